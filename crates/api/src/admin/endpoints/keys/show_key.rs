//! `POST /admin/v1/keys/show`: shows a key with its usage, governance and webhooks.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{ApiKeyId, Code, Refusal};
use sealpost_service::KeyDetails;
use serde_json::json;

use super::example_with;
use crate::{
    admin::{page::parsed_required, request::ViewRequest},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    response::JsonResponse,
};

/// The key to show.
#[derive(JsonSchema)]
struct ShowKeyRequest {
    /// The API key.
    api_key_id: ApiKeyId,
}

impl RequestBody for ShowKeyRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["api_key_id"])?;
        Ok(Self { api_key_id: parsed_required(fields, "api_key_id")? })
    }
}

async fn show_key(request: ViewRequest<ShowKeyRequest>) -> JsonResponse<KeyDetails> {
    let key = request.ask(|operator, body| operator.key_details(&body.api_key_id));
    Ok(web::Json(key.await?))
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(show_key) }
}

fn operation() -> Operation {
    let window = |limit: u32| {
        let resets_at = "2026-11-22T00:00:00.000Z";
        json!({ "limit": limit, "used": 12, "remaining": limit - 12, "resets_at": resets_at })
    };
    let key = example_with(&json!({
        "created_at": "2026-11-21T06:56:38.596Z",
        "throughput_per_second": 50,
        "allow_overage": false,
        "usage": { "minute": window(300), "day": window(50_000), "month": window(100_000) },
        "governance": { "blocked": false, "reasons": [] },
        "webhooks": [],
        "badges": [{
            "badge_id": "bdg_01m7ye92k0ejgs32r4n1j3x7m3",
            "status": "valid",
            "jurisdiction": "EU",
            "issued_at": "2026-11-21T07:00:00.000Z",
            "expires_at": "2027-02-19T07:00:00.000Z",
        }],
    }));
    let body = json!({ "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3" });
    Operation::new::<KeyDetails>("getKey", key)
        .describe(
            Tag::Keys,
            "Show a key",
            "Shows a key with its usage, its governance and at most 100 webhooks.",
        )
        .operator()
        .body::<ShowKeyRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::SubjectNotFound])
}
