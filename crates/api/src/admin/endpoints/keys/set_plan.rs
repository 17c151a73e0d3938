//! `POST /admin/v1/keys/plan`: sets the plan of a key.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{ApiKeyId, Plan, Refusal};
use sealpost_service::{Agreement, PlanShown};
use serde_json::json;

use super::example_with;
use crate::{
    admin::{
        page::parsed_required,
        request::{ActRequest, Reason},
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, invalid},
    response::JsonResponse,
};

/// A key and its new plan.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the fields describe the schema")]
struct SetPlanRequest {
    /// The API key.
    api_key_id: ApiKeyId,
    /// The new plan.
    #[schemars(extend("enum" = Plan::NAMES))]
    plan: String,
    /// Limit of requests per minute. Only the plan enterprise accepts limits. An omitted limit keeps its current value.
    per_minute: Option<u32>,
    /// Limit of requests per day.
    per_day: Option<u32>,
    /// Limit of messages per month.
    per_month: Option<u32>,
    /// Limit of messages per second.
    per_second: Option<u32>,
    /// Admit and record messages over the monthly allowance. Turned off if omitted.
    #[schemars(default)]
    allow_overage: bool,
    /// The reason, for the audit trail.
    reason: Reason,
}

/// The plan that a request selects.
struct PlanChoice {
    api_key_id: ApiKeyId,
    /// The selected plan, if its limits are fixed. `None` selects the plan enterprise, with the limits in `agreement`.
    fixed: Option<Plan>,
    agreement: Agreement,
    reason: Reason,
}

impl RequestBody for PlanChoice {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["api_key_id", "plan", "reason"])?;
        let api_key_id = parsed_required(fields, "api_key_id")?;
        let plan = fields.text("plan")?;
        let mut limit = |field| fields.optional_number(field, 0..=u32::MAX);
        let agreement = Agreement {
            per_minute: limit("per_minute")?,
            per_day: limit("per_day")?,
            per_month: limit("per_month")?,
            per_second: limit("per_second")?,
            allow_overage: fields.flag("allow_overage")?,
        };
        let fixed = agreement.plan_named(&plan).map_err(|fault| invalid("plan", fault))?;
        Ok(Self { api_key_id, fixed, agreement, reason: Reason::read(fields)? })
    }
}

async fn set_plan(request: ActRequest<PlanChoice>) -> JsonResponse<PlanShown> {
    request
        .perform(
            |body| &body.reason,
            |operator, PlanChoice { api_key_id, fixed, agreement, reason: _ }| match fixed {
                Some(plan) => operator.set_plan(&api_key_id, plan),
                None => operator.agree(&api_key_id, agreement),
            },
        )
        .await
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(set_plan) }
}

fn operation() -> Operation {
    let key = "ak_01m7ye92k0ejgs32r4n1j3x7m3";
    let plan = example_with(&json!({
        "per_minute": 200,
        "per_day": 10_000,
        "per_month": 10_000,
        "per_second": 100,
        "allow_overage": false,
    }));
    let fixed = json!({ "api_key_id": key, "plan": "builder", "reason": "Invoice 2026-118" });
    let agreed = json!({
        "api_key_id": key,
        "plan": "enterprise",
        "per_minute": 5_000,
        "per_day": 500_000,
        "per_month": 5_000_000,
        "per_second": 2_000,
        "allow_overage": true,
        "reason": "Contract 12",
    });
    Operation::new::<PlanShown>("setPlan", plan)
        .describe(
            Tag::Keys,
            "Set the plan of a key",
            "Sets the plan of a key. Its usage so far counts against the new limits. A repeated call changes nothing else.",
        )
        .acting_operator()
        .body::<SetPlanRequest>(vec![("A plan with fixed limits", fixed), ("Agreed limits", agreed)])
}
