//! `POST /admin/v1/partners/suspend` and `restore`: suspends a partner, or ends the suspension.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{Code, PartnerId, Refusal};
use sealpost_service::{DecisionShown, Operator, OperatorError};
use serde_json::json;

use super::example;
use crate::{
    admin::request::{ActRequest, Reason},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, invalid},
};

/// The name of a partner, and the reason for the change.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the fields describe the schema")]
struct PartnerRequest {
    /// The name of the partner.
    partner: String,
    /// The reason. The owners see it in the status of their keys.
    reason: Reason,
}

/// The partner to suspend or to restore, and the reason.
struct PartnerAct {
    partner: PartnerId,
    reason: Reason,
}

impl RequestBody for PartnerAct {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["partner", "reason"])?;
        let partner = read_partner(fields)?;
        Ok(Self { partner, reason: Reason::read(fields)? })
    }
}

/// Reads the member `partner`.
pub(super) fn read_partner(fields: &mut Fields) -> Result<PartnerId, Refusal> {
    let partner = PartnerId::parse(&fields.text("partner")?);
    partner.map_err(|fault| invalid("partner", fault.to_string()))
}

/// The function that performs a change: it suspends or restores a partner.
type Decision = fn(&Operator, &PartnerId, &str) -> Result<DecisionShown, OperatorError>;

/// Returns the endpoint that suspends a partner.
pub(in crate::admin::endpoints) fn suspend() -> Endpoint {
    let operation = operation("suspendPartner", "enforced").describe(
        Tag::Governance,
        "Suspend a partner",
        "Blocks all keys of the partner's accounts.",
    );
    endpoint(operation, Operator::suspend_partner)
}

/// Returns the endpoint that ends the suspension of a partner.
pub(in crate::admin::endpoints) fn restore() -> Endpoint {
    let operation = operation("restorePartner", "lifted").describe(
        Tag::Governance,
        "Restore a partner",
        "Ends the suspension of a partner.",
    );
    endpoint(operation, Operator::restore_partner)
}

fn endpoint(operation: Operation, decide: Decision) -> Endpoint {
    let handler = move |request: ActRequest<PartnerAct>| {
        request.perform(
            |body| &body.reason,
            move |operator, body| decide(operator, &body.partner, &body.reason.0),
        )
    };
    Endpoint { operation, route: web::route().to(handler) }
}

fn operation(id: &'static str, status: &str) -> Operation {
    let body = json!({ "partner": "acme", "reason": "Contract ended" });
    Operation::new::<DecisionShown>(id, example("partner:acme", "partner_suspension", status))
        .acting_operator()
        .body::<PartnerRequest>(vec![("", body)])
        .refuses(&[Code::ActionRefused])
}
