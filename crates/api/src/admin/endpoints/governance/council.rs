//! `POST /admin/v1/governance/propose`, `enforce` and `lift`: council actions, which block a key or an account.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{AccountId, ApiKeyId, Code, GovernanceSubject, Refusal};
use sealpost_service::{DecisionShown, Operator, OperatorError};
use serde_json::json;

use super::example;
use crate::{
    admin::request::{ActRequest, Reason},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, invalid},
};

/// The API key or account that a council action blocks, and the reason.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the fields describe the schema")]
struct CouncilRequest {
    /// An API key (`ak_…`) or an account (`acct_…`).
    subject: String,
    /// The reason. The owner sees it in the status of the key.
    reason: Reason,
}

/// The parsed request: the API key or account that the council action blocks, and the reason.
struct CouncilAct {
    subject: GovernanceSubject,
    reason: Reason,
}

impl RequestBody for CouncilAct {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["subject", "reason"])?;
        let text = fields.text("subject")?;
        let key = text.parse::<ApiKeyId>().map(GovernanceSubject::Key);
        let subject =
            key.or_else(|_no_key| text.parse::<AccountId>().map(GovernanceSubject::Account));
        let wrong =
            |_neither| invalid("subject", "must be an API key (ak_…) or an account (acct_…)");
        Ok(Self { subject: subject.map_err(wrong)?, reason: Reason::read(fields)? })
    }
}

/// The function that performs a change: it proposes, enforces or lifts a council action.
type Decision = fn(&Operator, GovernanceSubject, &str) -> Result<DecisionShown, OperatorError>;

/// Returns the endpoint that proposes a council action.
pub(in crate::admin::endpoints) fn propose() -> Endpoint {
    let operation = operation("proposeCouncilAction", "proposed").describe(
        Tag::Governance,
        "Propose a council action",
        "Announces a council action. It does not block yet.",
    );
    endpoint(operation, Operator::propose)
}

/// Returns the endpoint that enforces a council action.
pub(in crate::admin::endpoints) fn enforce() -> Endpoint {
    let operation = operation("enforceCouncilAction", "enforced").describe(
        Tag::Governance,
        "Enforce a council action",
        "Blocks the key, or all keys of the account.",
    );
    endpoint(operation, Operator::enforce)
}

/// Returns the endpoint that lifts a council action.
pub(in crate::admin::endpoints) fn lift() -> Endpoint {
    let operation = operation("liftCouncilAction", "lifted").describe(
        Tag::Governance,
        "Lift a council action",
        "Ends a council action, so that it no longer blocks.",
    );
    endpoint(operation, Operator::lift)
}

fn endpoint(operation: Operation, decide: Decision) -> Endpoint {
    let handler = move |request: ActRequest<CouncilAct>| {
        request.perform(
            |body| &body.reason,
            move |operator, body| decide(operator, body.subject, &body.reason.0),
        )
    };
    Endpoint { operation, route: web::route().to(handler) }
}

fn operation(id: &'static str, status: &str) -> Operation {
    let subject = "ak_01m7ye92k0ejgs32r4n1j3x7m3";
    let body = json!({ "subject": subject, "reason": "Council decision 12" });
    Operation::new::<DecisionShown>(id, example(subject, "council_action", status))
        .acting_operator()
        .body::<CouncilRequest>(vec![("", body)])
        .refuses(&[Code::ActionRefused])
}
