//! `POST /admin/v1/keys/revoke`: revokes a key permanently.

use actix_web::web;
use sealpost_domain::Code;
use sealpost_service::KeyRevoked;
use serde_json::json;

use super::{
    change_state::{KeyAct, body},
    example_with,
};
use crate::{
    admin::request::ActRequest,
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    response::JsonResponse,
};

async fn revoke_key(request: ActRequest<KeyAct>) -> JsonResponse<KeyRevoked> {
    request
        .perform(|body| &body.reason, |operator, body| operator.revoke_key(&body.api_key_id))
        .await
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(revoke_key) }
}

fn operation() -> Operation {
    let revoked =
        example_with(&json!({ "status": "revoked", "registrations": 1, "deliveries": 0 }));
    Operation::new::<KeyRevoked>("revokeKey", revoked)
        .describe(Tag::Keys, "Revoke a key", DESCRIPTION)
        .acting_operator()
        .body::<KeyAct>(vec![("", body())])
        .refuses(&[Code::ActionRefused])
}

const DESCRIPTION: &str = "\
Revokes a key permanently, and deletes its webhooks and their pending deliveries. Envelopes to the key can never be \
opened again.";
