//! `POST /admin/v1/partners/assign`: assigns an account to a partner.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{AccountId, PartnerId, Refusal};
use sealpost_service::PartnerAssigned;
use serde_json::json;

use super::partner::read_partner;
use crate::{
    admin::{
        page::parsed_required,
        request::{ActRequest, Reason},
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    response::JsonResponse,
};

/// An account and its partner.
#[derive(JsonSchema)]
struct AssignPartnerRequest {
    /// The id of the account.
    account_id: AccountId,
    /// The name of the partner: letters, digits, `.`, `-` and `_`, case-sensitive.
    #[schemars(with = "String")]
    partner: PartnerId,
    /// The reason, for the audit trail.
    reason: Reason,
}

impl RequestBody for AssignPartnerRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["account_id", "partner", "reason"])?;
        let account_id = parsed_required(fields, "account_id")?;
        Ok(Self { account_id, partner: read_partner(fields)?, reason: Reason::read(fields)? })
    }
}

async fn assign(request: ActRequest<AssignPartnerRequest>) -> JsonResponse<PartnerAssigned> {
    request
        .perform(
            |body| &body.reason,
            |operator, body| operator.assign_partner(&body.account_id, &body.partner),
        )
        .await
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(assign) }
}

fn operation() -> Operation {
    let account = "acct_01m7ye92k0e5wsvs5qjndehdka";
    let assigned = json!({ "account_id": account, "partner": "acme" });
    let body = json!({ "account_id": account, "partner": "acme", "reason": "Contract 7" });
    Operation::new::<PartnerAssigned>("assignPartner", assigned)
        .describe(
            Tag::Governance,
            "Assign an account to a partner",
            "Assigns an account to a partner. This replaces its previous partner.",
        )
        .acting_operator()
        .body::<AssignPartnerRequest>(vec![("", body)])
}
