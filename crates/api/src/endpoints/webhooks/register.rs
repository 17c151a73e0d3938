//! `POST /v1/webhooks/register`: creates a webhook, which receives the events of an API key at a URL.

use sealpost_domain::{Code, Description, EventKind, Refusal, TokenScope};
use sealpost_service::{Access, Purpose, Register, Registered, WaitingChoice};
use serde_json::{Value, json};

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, Member, invalid, request_body, request_source},
    state::ApiState,
};

request_body! {
    /// The URL and the events of a new webhook.
    struct RegisterRequest {
        /// The https URL that receives the events. It must lead to a public address. Or `relay:`, for a receiver that
        /// connects to the service.
        #[schemars(length(min = 1, max = 2048))]
        url: String,
        /// The kinds of events to send.
        #[schemars(with = "Vec<EventKind>", length(min = 1))]
        events: Vec<String>,
        /// A note of at most 200 characters. An empty text is no note.
        #[schemars(with = "Option<String>", length(max = 200), extend("pattern" = Description::pattern()))]
        description: Option<Description>,
        /// Applies to envelopes that arrived before the key had a webhook for `envelope.received`. If absent, the first
        /// such webhook receives these envelopes. With `skip`, no webhook receives these envelopes.
        #[schemars(with = "Option<String>", extend("enum" = ["skip", null]))]
        waiting: WaitingChoice,
    }
    check check_target
}

impl Member for WaitingChoice {
    const IS_REQUIRED: bool = false;

    fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
        match fields.optional_text(field)?.as_deref() {
            None => Ok(Self::Deliver),
            Some("skip") => Ok(Self::Skip),
            Some(_) => Err(invalid(field, "must be skip or absent")),
        }
    }
}

fn check_target(request: &RegisterRequest, app: &ApiState) -> Result<(), Refusal> {
    app.sealpost.webhooks.check_url(&request.url)?;
    app.sealpost.webhooks.find_events(&request.events).map(drop)
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let registered = json!({
        "webhook_id": "wh_01m7ye92sqen1aazwgag1e22t1",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "url": "https://bob.example.com/sealpost",
        "events": ["envelope.received"],
        "description": null,
        "secret": "whsec_tyz4uy9luPVtr0QsFCb5J1YDaxnpdw63I5LuaTjY9Uc=",
        "status": "enabled",
        "created_at": "2026-11-21T06:56:38.711Z",
        "warning": null,
        "waiting": 0,
        "waiting_more": false,
    });
    let body =
        json!({ "url": "https://bob.example.com/sealpost", "events": ["envelope.received"] });
    let operation = Operation::new::<Registered>("registerWebhook", registered)
        .describe(Tag::Webhooks, "Register a webhook", DESCRIPTION)
        .session_and_key(ACCESS)
        .body::<RegisterRequest>(vec![("", body)])
        .links(json!({
            "delete": link("deleteWebhook", "Deletes the webhook."),
            "deliveries": link("listDeliveries", "Lists deliveries to the webhook."),
            "enable": link("enableWebhook", "Enables the webhook."),
            "rotateSecret": link("rotateWebhookSecret", "Replaces the secret."),
        }))
        .refuses(&[Code::MissingField, Code::GovernanceBlocked, Code::QuotaExceeded]);
    operation.for_key(ACCESS, Purpose::Execute, async |app, http, caller, body: RegisterRequest| {
        let RegisterRequest { url, events, description, waiting } = body;
        match app.sealpost.webhooks.find_events(&events) {
            Ok(events) => {
                let register = Register { url, events, description, waiting };
                let actor = caller.acting(&request_source(app, http));
                app.sealpost.webhooks.register(&actor, register).await
            }
            Err(refusal) => app.sealpost.sending.reject(caller, Purpose::Execute, refusal).await,
        }
    })
}

fn link(operation: &str, description: &str) -> Value {
    json!({
        "operationId": operation,
        "description": description,
        "requestBody": { "webhook_id": "$response.body#/webhook_id" },
    })
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Webhooks]);

const DESCRIPTION: &str = "\
Sends the events of the key to this URL from now on, signed with `secret`. The response shows the secret only \
once.\n\n\
- The URL must be https, without user information and fragment, on port 443, 8443 or a port from 1024. It must \
not lead to a private address, now or at any delivery.\n\
- The host is a full domain name or an IPv4 address. To reach an IPv6 address, use a name. A name that does not \
resolve yet is accepted, with a `warning`.\n\
- Or with the URL `relay:`, the receiver connects to `GET /v1/webhooks/relay` by WebSocket, and needs no public address.\n\
- Events other than `envelope.received` need a server with `--events v1.1`.\n\
- A key may have 16 webhooks.\n\
- Envelopes for a key without a webhook for `envelope.received` wait. The first such webhook receives them, \
oldest first. `waiting` is their number, counted up to 10,000. With `\"waiting\": \"skip\"` no webhook receives \
them.";
