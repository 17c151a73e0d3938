//! Operator endpoints for council actions, which block a key or an account, and for partners. A partner is a group of
//! accounts that can be suspended together.

use sealpost_domain::{AccountId, Code, GovernanceSubject, PartnerId};
use sealpost_service::{DecisionView, Operator, OperatorError, PartnerAssigned};
use serde_json::{Value, json};

use crate::{
    admin::request::{Reason, act},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::request_body,
};

request_body! {
    /// The API key or account that a council action blocks, and the reason.
    struct CouncilRequest {
        /// An API key (`ak_…`) or an account (`acct_…`).
        #[schemars(with = "String")]
        subject: GovernanceSubject,
        /// The reason. The owner sees it in the status of the key.
        reason: Reason,
    }
}

request_body! {
    /// The name of a partner, and the reason for the change.
    struct PartnerRequest {
        /// The name of the partner.
        #[schemars(with = "String")]
        partner: PartnerId,
        /// The reason. The owners see it in the status of their keys.
        reason: Reason,
    }
}

request_body! {
    /// An account and its partner.
    struct AssignPartnerRequest {
        /// The id of the account.
        account_id: AccountId,
        /// The name of the partner: letters, digits, `.`, `-` and `_`, case-sensitive.
        #[schemars(with = "String")]
        partner: PartnerId,
        /// The reason, for the audit trail.
        reason: Reason,
    }
}

/// `POST /admin/v1/governance/propose`
pub(super) fn propose() -> Endpoint {
    let about = ["Propose a council action", "Announces a council action. It does not block yet."];
    council_act("proposeCouncilAction", "proposed", about, Operator::propose)
}

/// `POST /admin/v1/governance/enforce`
pub(super) fn enforce() -> Endpoint {
    let about = ["Enforce a council action", "Blocks the key, or all keys of the account."];
    council_act("enforceCouncilAction", "enforced", about, Operator::enforce)
}

/// `POST /admin/v1/governance/lift`
pub(super) fn lift() -> Endpoint {
    let about = ["Lift a council action", "Ends a council action, so that it no longer blocks."];
    council_act("liftCouncilAction", "lifted", about, Operator::lift)
}

/// `POST /admin/v1/partners/suspend`
pub(super) fn suspend() -> Endpoint {
    let about = ["Suspend a partner", "Blocks all keys of the partner's accounts."];
    partner_act("suspendPartner", "enforced", about, Operator::suspend_partner)
}

/// `POST /admin/v1/partners/restore`
pub(super) fn restore() -> Endpoint {
    let about = ["Restore a partner", "Ends the suspension of a partner."];
    partner_act("restorePartner", "lifted", about, Operator::restore_partner)
}

/// `POST /admin/v1/partners/assign`
pub(super) fn assign_partner() -> Endpoint {
    let account = "acct_01m7ye92k0e5wsvs5qjndehdka";
    let assigned = json!({ "account_id": account, "partner": "acme" });
    let body = json!({ "account_id": account, "partner": "acme", "reason": "Contract 7" });
    let operation = Operation::new::<PartnerAssigned>("assignPartner", assigned)
        .describe(
            Tag::Governance,
            "Assign an account to a partner",
            "Assigns an account to a partner. This replaces its previous partner.",
        )
        .body::<AssignPartnerRequest>(vec![("", body)]);
    act(
        operation,
        |operator, body: AssignPartnerRequest| {
            operator.assign_partner(&body.account_id, &body.partner)
        },
        |body| &body.reason,
    )
}

/// Returns the endpoint of a council action, with its summary and its description.
fn council_act(
    id: &'static str,
    status: &str,
    [summary, description]: [&'static str; 2],
    perform: fn(&Operator, &GovernanceSubject, &str) -> Result<DecisionView, OperatorError>,
) -> Endpoint {
    let subject = "ak_01m7ye92k0ejgs32r4n1j3x7m3";
    let body = json!({ "subject": subject, "reason": "Council decision 12" });
    let operation = Operation::new::<DecisionView>(id, example(subject, "council_action", status))
        .describe(Tag::Governance, summary, description)
        .body::<CouncilRequest>(vec![("", body)])
        .refuses(&[Code::ActionRefused]);
    let perform = move |operator: &Operator, body: CouncilRequest| {
        perform(operator, &body.subject, &body.reason.0)
    };
    act(operation, perform, |body| &body.reason)
}

/// Returns the endpoint of an admin action on a partner, with its summary and its description.
fn partner_act(
    id: &'static str,
    status: &str,
    [summary, description]: [&'static str; 2],
    perform: fn(&Operator, &PartnerId, &str) -> Result<DecisionView, OperatorError>,
) -> Endpoint {
    let decided = example("partner:acme", "partner_suspension", status);
    let body = json!({ "partner": "acme", "reason": "Contract ended" });
    let operation = Operation::new::<DecisionView>(id, decided)
        .describe(Tag::Governance, summary, description)
        .body::<PartnerRequest>(vec![("", body)])
        .refuses(&[Code::ActionRefused]);
    let perform = move |operator: &Operator, body: PartnerRequest| {
        perform(operator, &body.partner, &body.reason.0)
    };
    act(operation, perform, |body| &body.reason)
}

/// Returns an example response that shows a council action or the state of a partner.
fn example(subject: &str, kind: &str, status: &str) -> Value {
    json!({
        "subject": subject,
        "kind": kind,
        "status": status,
        "reason": "Council decision 12",
        "since": "2026-11-21T06:56:38.596Z",
        "by": "console:alice",
    })
}
