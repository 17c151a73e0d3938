//! `POST /admin/v1/keys/deactivate`, `reactivate` and `rotate`: change the state of a key.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{ApiKeyId, Code, Refusal};
use sealpost_service::{KeyShown, Operator, OperatorError};
use serde_json::json;

use super::example_with;
use crate::{
    admin::{
        page::parsed_required,
        request::{ActRequest, Reason},
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
};

/// The key to change.
#[derive(JsonSchema)]
#[schemars(rename = "KeyActRequest")]
pub(super) struct KeyAct {
    /// The API key.
    pub(super) api_key_id: ApiKeyId,
    /// The reason, for the audit trail.
    pub(super) reason: Reason,
}

impl RequestBody for KeyAct {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["api_key_id", "reason"])?;
        Ok(Self {
            api_key_id: parsed_required(fields, "api_key_id")?,
            reason: Reason::read(fields)?,
        })
    }
}

/// The function that performs a change of a key's state.
type StateChange = fn(&Operator, &ApiKeyId) -> Result<KeyShown, OperatorError>;

/// Returns the endpoint that deactivates a key.
pub(in crate::admin::endpoints) fn deactivate() -> Endpoint {
    let operation = operation("deactivateKey", "deactivated").describe(
        Tag::Keys,
        "Deactivate a key",
        "Disables a key until it is reactivated. It can neither send nor receive.",
    );
    endpoint(operation, Operator::deactivate_key)
}

/// Returns the endpoint that reactivates a key.
pub(in crate::admin::endpoints) fn reactivate() -> Endpoint {
    let operation = operation("reactivateKey", "active").describe(
        Tag::Keys,
        "Reactivate a key",
        "Enables a deactivated key again.",
    );
    endpoint(operation, Operator::reactivate_key)
}

/// Returns the endpoint that rotates a key.
pub(in crate::admin::endpoints) fn rotate() -> Endpoint {
    let operation = operation("rotateKey", "active").describe(
        Tag::Keys,
        "Rotate a sealing key",
        "Replaces the sealing key of an API key. The DID stays, and old envelopes can be opened. Each call rotates again.",
    );
    endpoint(operation, Operator::rotate_key)
}

fn endpoint(operation: Operation, change: StateChange) -> Endpoint {
    let handler = move |request: ActRequest<KeyAct>| {
        request
            .perform(|body| &body.reason, move |operator, body| change(operator, &body.api_key_id))
    };
    Endpoint { operation, route: web::route().to(handler) }
}

fn operation(id: &'static str, status: &str) -> Operation {
    Operation::new::<KeyShown>(id, example_with(&json!({ "status": status })))
        .acting_operator()
        .body::<KeyAct>(vec![("", body())])
        .refuses(&[Code::ActionRefused])
}

/// Returns an example of the request body.
pub(super) fn body() -> serde_json::Value {
    json!({ "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3", "reason": "Ticket 4711" })
}
