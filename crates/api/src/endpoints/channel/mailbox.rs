//! The endpoints for stored envelopes, below `/v1/channel`: `open` for the recipient, `receipt` for the sender,
//! `evidence` for both, and `list` of the envelopes that the caller sent.

use sealpost_domain::{Code, ThreadId, Timestamp, TokenScope};
use sealpost_service::{
    Access, EvidenceView, ListSent, Opened, ProofFormat, Purpose, Receipt, SentCursor, SentPage,
};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{NumberUpTo, refuse_until_before_since, request_body},
};

request_body! {
    struct OpenRequest {
        /// The id of the envelope, from the event that announced it.
        #[schemars(length(min = 1))]
        envelope_id: String,
        /// If true, the response has a proof of the transparency log.
        #[schemars(with = "Option<bool>")]
        proof: bool,
        /// The form of the proof, `tlog` by default: a proof file (C2SP tlog-proof), or a COSE receipt (RFC 9942) in base64.
        proof_format: Option<ProofFormat>,
    }
}

pub(in crate::endpoints) fn open_endpoint() -> Endpoint {
    let access = Access::Scopes(&[TokenScope::Open]);
    let opened = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "envelope_hash": "sha256:ee7898977eef1c7398d2e117b9600d182af9fdee777bbc231b5c19fca6bce940",
        "sender": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "sender_handle": "alice",
        "message": "Meet me at noon.",
        "thread": null,
        "reply_to": null,
        "type": null,
        "encryption": { "algorithm": "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519", "status": "sealed" },
        "metadata": { "payload_size_bytes": 1158, "timestamp": "2026-11-21T06:56:38.729Z" },
        "opened_at": "2026-11-21T06:56:38.786Z",
    });
    let body = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv" });
    let proven = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv", "proof": true });
    let operation = Operation::new::<Opened>("openEnvelope", opened)
        .describe(Tag::Channel, "Open an envelope", OPEN)
        .repeatable()
        .session_and_key(access)
        .body::<OpenRequest>(vec![("Without a proof", body), ("With a proof", proven)])
        .refuses(&[Code::MissingField, Code::GovernanceBlocked, Code::EnvelopeNotFound]);
    operation.for_key(access, Purpose::Execute, async |app, _, caller, body: OpenRequest| {
        let proof = body.proof.then(|| body.proof_format.unwrap_or_default());
        app.sealpost.mailbox.open(caller, body.envelope_id, proof).await
    })
}

request_body! {
    struct ReceiptRequest {
        /// The `envelope_id` in the response to the send.
        #[schemars(length(min = 1))]
        envelope_id: String,
        /// If true, the response has a proof of the transparency log.
        #[schemars(with = "Option<bool>")]
        proof: bool,
        /// The form of the proof, `tlog` by default: a proof file (C2SP tlog-proof), or a COSE receipt (RFC 9942) in base64.
        proof_format: Option<ProofFormat>,
    }
}

pub(in crate::endpoints) fn receipt_endpoint() -> Endpoint {
    let access = Access::Scopes(&[TokenScope::Send]);
    let shown = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "sent_at": "2026-11-21T06:56:38.729Z",
        "thread": null,
        "reply_to": null,
        "type": null,
        "state": "notified",
        "notified_at": "2026-11-21T06:56:38.751Z",
        "opened_at": null,
    });
    let body = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv" });
    let proven = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv", "proof": true });
    let operation = Operation::new::<Receipt>("getReceipt", shown)
        .describe(Tag::Channel, "Show the receipt of an envelope", RECEIPT)
        .repeatable()
        .session_and_key(access)
        .body::<ReceiptRequest>(vec![("Without a proof", body), ("With a proof", proven)])
        .refuses(&[Code::MissingField, Code::EnvelopeNotFound]);
    operation.for_key(access, Purpose::Manage, async |app, _, caller, body: ReceiptRequest| {
        let proof = body.proof.then(|| body.proof_format.unwrap_or_default());
        app.sealpost.mailbox.receipt(caller, body.envelope_id, proof).await
    })
}

request_body! {
    struct EvidenceRequest {
        /// The id of an envelope that the key has sent or received.
        #[schemars(length(min = 1))]
        envelope_id: String,
    }
}

pub(in crate::endpoints) fn evidence_endpoint() -> Endpoint {
    let access = Access::Scopes(&[TokenScope::Send, TokenScope::Open]);
    let proven = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "evidence": "sealpost-evidence/v1\nextra a2luZCBldmlkZW5jZQo=\nindex 17\n\nseal.example.org/log\n18\n3Ht6rKq0Jx3jv0Jx8oC3m0Qx5n3d0E6q2W5l0m7Z9aE=\n\n— seal.example.org/log mJ0nYw==\n",
        "cosigned": true,
    });
    let body = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv" });
    let operation = Operation::new::<EvidenceView>("getEvidence", proven)
        .describe(Tag::Channel, "Prove what happened to an envelope", EVIDENCE)
        .repeatable()
        .session_and_key(access)
        .body::<EvidenceRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::EnvelopeNotFound]);
    operation.for_key(access, Purpose::Manage, async |app, _, caller, body: EvidenceRequest| {
        app.sealpost.mailbox.evidence(caller, body.envelope_id).await
    })
}

request_body! {
    /// The page to show.
    struct ListRequest {
        /// Lists only envelopes to this API key or handle.
        recipient: Option<String>,
        /// Lists only envelopes of this thread.
        thread: Option<ThreadId>,
        /// The start of the time range, inclusive.
        since: Option<Timestamp>,
        /// The end of the time range, exclusive.
        until: Option<Timestamp> => refuse_until_before_since(since, until),
        /// The maximum number of envelopes, 20 by default.
        #[schemars(default)]
        limit: NumberUpTo<100, 20>,
        /// The `next_cursor` of the previous page.
        #[schemars(with = "Option<String>")]
        cursor: Option<SentCursor>,
    }
}

pub(in crate::endpoints) fn list_endpoint() -> Endpoint {
    let access = Access::Scopes(&[TokenScope::Read, TokenScope::Send]);
    let page = json!({
        "envelopes": [{
            "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
            "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
            "sent_at": "2026-11-21T06:56:38.729Z",
            "state": "notified",
            "thread": "order:7",
            "reply_to": null,
            "type": "text/plain",
        }],
        "next_cursor": "AZ8eSQlJeXtqwnPXiGZ7Ow",
    });
    let operation = Operation::new::<SentPage>("listSent", page)
        .describe(Tag::Channel, "List the sent envelopes", LIST)
        .repeatable()
        .session_and_key(access)
        .optional_body::<ListRequest>(vec![
            ("The newest envelopes", json!({})),
            ("A thread with one recipient", json!({ "recipient": "bob", "thread": "order:7" })),
            ("A day", json!({ "since": "2026-11-21T00:00:00Z", "until": "2026-11-22T00:00:00Z" })),
            ("The next page", json!({ "limit": 50, "cursor": "AZ8eSQlJeXtqwnPXiGZ7Ow" })),
        ])
        .refuses(&[Code::InvalidField, Code::RawDidRejected]);
    operation.for_key(access, Purpose::Manage, async |app, _, caller, body: ListRequest| {
        let ListRequest { recipient, thread, since, until, limit: NumberUpTo(limit), cursor } =
            body;
        let query = ListSent { recipient, thread, since, until, limit, cursor };
        app.sealpost.mailbox.list_sent(caller, query).await
    })
}

const OPEN: &str = "\
Verifies hash and signature of the envelope, and returns the message to the recipient. There is no inbox: the id \
comes with the webhook event.\n\n\
- An envelope can be opened many times while it is kept, 30 days by default. `opened_at` is the first time.\n\
- With `proof`, the response proves that the transparency log has the envelope.\n\
- An envelope for another key gets the same response as an unknown envelope.";
const RECEIPT: &str = "\
Shows the sender the context and the state of an envelope: `waiting` for a webhook of the recipient, `sent`, \
`notified`, `opened` or `bounced`.\n\n\
- Times that the recipient hides are null.\n\
- With `proof`, the response proves that the transparency log has the envelope.\n\
- An envelope of another sender gets the same response as an unknown or expired one.\n\
- The request counts against the limits per minute and per day.";
const EVIDENCE: &str = "\
Returns one file of at most 16 KiB for the sender or the recipient of an envelope. It has hash, both keys and \
their DIDs, the times of send, event and opening, and the newest badges, with the proofs of the transparency \
log.\n\n\
- `sealpost verify-proof` verifies the file without the network, also years later.\n\
- A sender sees what the receipt shows.\n\
- An API token needs the scope `send` for an envelope that its key sent, and `open` for one that its key received.\n\
- The DID and the badge of the other party are left out if its policy says `listed: false`.\n\
- Each request appends an entry to the log, and may take six seconds.\n\
- The request counts against the limits per minute and per day.";
const LIST: &str = "\
Lists the envelopes that the caller sent and that are still kept, newest first, with their context and their \
state. There is no list of received envelopes.\n\n\
- `state` is that of the receipt: the policy of the recipient decides how much it shows.\n\
- A page can have fewer envelopes than `limit`, and even none: ask for further pages until `next_cursor` is \
null.\n\
- The request counts against the limits per minute and per day.";
