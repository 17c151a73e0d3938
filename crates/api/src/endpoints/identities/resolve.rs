//! `POST /v1/did/resolve`: shows the identity behind an API key or a handle.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal, TokenScope};
use sealpost_service::{Access, Purpose, Resolved};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, KeyRequest, RequestBody},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

#[derive(JsonSchema)]
struct ResolveRequest {
    /// An API key or a handle, with or without a leading `@`.
    #[schemars(length(min = 1))]
    id: String,
}

impl RequestBody for ResolveRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["id"])?;
        Ok(Self { id: fields.text("id")? })
    }
}

async fn resolve(
    app: web::Data<ApiState>,
    request: KeyRequest<ResolveRequest>,
) -> LimitedResponse<Resolved> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        sealpost.resolve_identity(caller, body.id).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(resolve) }
}

fn operation() -> Operation {
    let resolved = json!({
        "api_key_id": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "handle": "alice",
        "label": "Alice",
        "active": true,
    });
    Operation::new::<Resolved>("resolveIdentity", resolved)
        .describe(Tag::Identities, "Find an identity", DESCRIPTION)
        .session_and_key(ACCESS)
        .body::<ResolveRequest>(vec![
            ("By API key", json!({ "id": "ak_01m7ye92jjfq1s4zr4gcymmdgn" })),
            ("By handle", json!({ "id": "alice" })),
        ])
        .refuses(&[Code::MissingField, Code::RawDidRejected])
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Read]);

const DESCRIPTION: &str = "\
Shows the handle and the label of an identity, for example of the `sender` of an event. `active` is true if the key can \
send and receive. A raw DID is refused. The request counts against the limits per minute and per day.";
