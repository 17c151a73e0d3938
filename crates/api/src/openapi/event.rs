//! Describes the events that the service sends to webhooks, for the `webhooks` object of the OpenAPI document.

use schemars::SchemaGenerator;
use sealpost_domain::{
    EnvelopeBounced, EnvelopeReceived, EventBody, IdentityRotated, UsageThreshold, WebhookDisabled,
    WebhookFailing, WebhookTest,
};
use serde_json::{Value, json};

use super::{operation::Tag, schemas::Schemas};

/// Renders the OpenAPI `webhooks` object: one operation for each kind of event.
pub(super) fn webhooks(schemas: &mut Schemas) -> Value {
    json!({
        "envelope.received": { "post": operation(
            "receiveEnvelope",
            "An envelope has arrived",
            RECEIVED,
            &schemas.event("envelope.received", SchemaGenerator::subschema_for::<EnvelopeReceived>),
            &received_example(),
        ) },
        "envelope.bounced": { "post": operation(
            "receiveBounce",
            "A sent envelope did not reach its recipient",
            BOUNCED,
            &schemas.event("envelope.bounced", SchemaGenerator::subschema_for::<EventBody<EnvelopeBounced>>),
            &bounced_example(),
        ) },
        "identity.rotated": { "post": operation(
            "receiveRotation",
            "A correspondent has changed",
            ROTATED,
            &schemas.event("identity.rotated", SchemaGenerator::subschema_for::<EventBody<IdentityRotated>>),
            &rotated_example(),
        ) },
        "usage.threshold": { "post": operation(
            "receiveThreshold",
            "80 % or 100 % of a limit is used",
            THRESHOLD,
            &schemas.event("usage.threshold", SchemaGenerator::subschema_for::<EventBody<UsageThreshold>>),
            &threshold_example(),
        ) },
        "webhook.disabled": { "post": operation(
            "receiveDisabled",
            "Another webhook was disabled",
            DISABLED,
            &schemas.event("webhook.disabled", SchemaGenerator::subschema_for::<EventBody<WebhookDisabled>>),
            &disabled_example(),
        ) },
        "webhook.failing": { "post": operation(
            "receiveFailing",
            "Another webhook has failed for an hour",
            FAILING,
            &schemas.event("webhook.failing", SchemaGenerator::subschema_for::<EventBody<WebhookFailing>>),
            &failing_example(),
        ) },
        "webhook.test": { "post": test_operation(schemas) },
    })
}

fn operation(id: &str, summary: &str, about: &str, schema: &Value, example: &Value) -> Value {
    let event_id = example.get("event_id").or_else(|| example.get("envelope_id"));
    json!({
        "operationId": id,
        "tags": [Tag::Events],
        "summary": summary,
        "description": format!("{about}\n\n{DELIVERY}"),
        "security": [],
        "parameters": headers(event_id),
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": schema, "examples": { "example1": { "value": example } } } },
        },
        "responses": {
            "2XX": { "description": "Received: the delivery has succeeded." },
            "410": { "description": "Gone permanently: the service disables the webhook." },
            "429": delaying("Too many requests."),
            "503": delaying("Not available."),
            "default": { "description": FAILED },
        },
    })
}

/// Renders a response whose `Retry-After` delays the next attempt.
fn delaying(about: &str) -> Value {
    json!({
        "description": format!("{about} {RETRY_AFTER}"),
        "headers": { "Retry-After": { "schema": { "type": "integer", "minimum": 0 } } },
    })
}

/// Renders the operation of the test event. Unlike other events, a test event is not retried.
fn test_operation(schemas: &mut Schemas) -> Value {
    let schema = schemas.event("webhook.test", SchemaGenerator::subschema_for::<WebhookTest>);
    let example = test_example();
    let mut operation = operation("receiveTest", "A webhook is tested", TEST, &schema, &example);
    if let Some(members) = operation.as_object_mut() {
        let responses = json!({
            "2XX": { "description": "Received: the test has succeeded." },
            "default": { "description": "Failed. Nothing follows. Redirects are not followed." },
        });
        members.insert("responses".to_owned(), responses);
    }
    operation
}

fn headers(event_id: Option<&Value>) -> Value {
    let header = |name: &str, about: &str, schema: Value, example: Value| json!({ "name": name, "in": "header", "required": true, "description": about, "schema": schema, "example": example });
    let text = || json!({ "type": "string" });
    json!([
        header(
            "webhook-id",
            "The id of the event, the same for each attempt. Use it to recognise a repeated event.",
            text(),
            json!(event_id)
        ),
        header(
            "webhook-timestamp",
            "The time of this attempt, in seconds since 1970. Refuse a time that differs by more than five minutes.",
            json!({ "type": "integer" }),
            1_795_244_198.into()
        ),
        header("webhook-signature", SIGNATURE, text(), SIGNED.into()),
        header(
            "X-Service-Signature",
            "The same value as `webhook-signature`.",
            text(),
            SIGNED.into()
        ),
    ])
}

fn received_example() -> Value {
    json!({
        "event": "envelope.received",
        "envelope_id": ENVELOPE,
        "envelope_hash": "sha256:ee7898977eef1c7398d2e117b9600d182af9fdee777bbc231b5c19fca6bce940",
        "sender": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "encryption": { "algorithm": "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519", "status": "sealed" },
        "metadata": { "payload_size_bytes": 1158, "timestamp": "2026-11-21T06:56:38.729Z" },
    })
}

fn bounced_example() -> Value {
    json!({
        "event": "envelope.bounced",
        "event_id": "evt_01m7yhzq5bf5vargkky48cczpv",
        "envelope_id": ENVELOPE,
        "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "reason": "exhausted",
        "metadata": { "timestamp": "2026-11-24T10:31:05.003Z" },
    })
}

fn rotated_example() -> Value {
    json!({
        "event": "identity.rotated",
        "event_id": "evt_01m7yhzq5df5vargkky48cczpx",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "handle": "bob",
        "replaced_by": "ak_01m7yhzq4vfd2b8ddbzqkz7w3c",
        "reason": "replaced",
        "metadata": { "timestamp": "2026-11-24T10:31:05.003Z" },
    })
}

fn threshold_example() -> Value {
    json!({
        "event": "usage.threshold",
        "event_id": "evt_01m7yhzq5cf5vargkky48cczpw",
        "api_key_id": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "window": "month",
        "threshold": 80,
        "used": 800,
        "limit": 1000,
        "resets_at": "2026-12-01T00:00:00.000Z",
        "metadata": { "timestamp": "2026-11-24T10:31:05.003Z" },
    })
}

fn disabled_example() -> Value {
    json!({
        "event": "webhook.disabled",
        "event_id": "evt_01m7yhzq5ef5vargkky48cczpy",
        "webhook_id": "wh_01m7ye92sqen1aazwgag1e22t1",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "description": "orders of the shop",
        "reason": "gone",
        "since": "2026-11-24T10:31:05.003Z",
        "last_failure": { "at": "2026-11-24T10:31:05.003Z", "error": "http_status", "error_detail": null },
        "metadata": { "timestamp": "2026-11-24T10:31:05.003Z" },
    })
}

fn failing_example() -> Value {
    json!({
        "event": "webhook.failing",
        "event_id": "evt_01m7yhzq5gf5vargkky48cczpz",
        "webhook_id": "wh_01m7ye92sqen1aazwgag1e22t1",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "description": "orders of the shop",
        "reason": "all_attempts_failed",
        "since": "2026-11-24T09:30:58.118Z",
        "last_failure": { "at": "2026-11-24T10:31:05.003Z", "error": "connect", "error_detail": null },
        "metadata": { "timestamp": "2026-11-24T10:31:05.003Z" },
    })
}

fn test_example() -> Value {
    json!({
        "event": "webhook.test",
        "event_id": "evt_01m7ye92xk1c2d3e4f5g6h7j8k",
        "metadata": { "timestamp": "2026-11-21T06:56:38.729Z" },
    })
}

const TEST: &str = "\
The service sends this event once, on `POST /v1/webhooks/test`, whatever the `events` of the webhook are.";
const RECEIVED: &str = "\
The service sends this event to each webhook of the recipient's key. It carries metadata, never the message. Open the \
envelope by its id.";
const BOUNCED: &str = "\
The service sends this event to each webhook of the sender's key that names it, at most once for each envelope. It needs \
a server with `--events v1.1`.";
const ROTATED: &str = "\
The service sends this event to each webhook that names it, if the webhook's key has sent to the changed key or got from \
it: once for each change, within ten seconds, or later on a busy server. It needs a server with `--events v1.1`.";
const THRESHOLD: &str = "\
The service sends this event to each webhook of the key that names it, once for each window and threshold. It needs a \
server with `--events v1.1`.";
const DISABLED: &str = "\
The service sends this event to each other webhook of the account that names it, once for each time that a webhook is \
disabled. `reason` is `gone` (the receiver responded 410), `failing` (five days of failures) or `operator`; `since` is \
the time. It needs a server with `--events v1.1`.";
const FAILING: &str = "\
The service sends this event to each other webhook of the account that names it, if all attempts at a webhook have \
failed for an hour, at least ten: once until the next success. `since` is the time of the first failure. It needs a \
server with `--events v1.1`.";
const DELIVERY: &str = "\
- Verify the signature over the raw body with the webhook's `whsec_` secret; any Standard Webhooks library does this.\n\
- Respond with 2xx within 15 s.\n\
- Events may arrive more than once and in any order.";
const RETRY_AFTER: &str = "\
`Retry-After` can extend the pause to twice its length or to one hour, whichever is longer, and at most to 24 h.";
const FAILED: &str = "\
Failed: the next attempts follow after about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. Redirects are \
not followed.";
const SIGNATURE: &str = "\
Signatures over `{webhook-id}.{webhook-timestamp}.{body}`, separated by spaces; one valid signature is enough. `v1,` and \
base64: HMAC-SHA256, keyed with the decoded secret; several while a secret is rotated. `v1a,` and base64: Ed25519, by the \
service itself, with a public key of `/.well-known/did.json`. Ignore other versions.";
const ENVELOPE: &str = "env_01m7ye92t9f5vargkky48cczpv";
const SIGNED: &str = "v1,2nXEHEcNWPlgMN/en7i4zMiyPVw2kdJjGy70hjLMYfE= \
v1a,B4QnNydecFxYyTHeCGnV2BaaOvD8s12QS5jSjaefsBEwhAQxmryfrRHrVIv0OLzDbJu0NoCFzWQ61sY26R8nDQ==";
