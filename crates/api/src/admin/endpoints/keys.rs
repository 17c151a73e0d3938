//! Operator endpoints for API keys.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKeyId, Code, Handle, KeyStatus, Label, Plan, Refusal, ports::KeyFilter,
};
use sealpost_service::{Agreement, KeyDetails, KeyRowView, Operator, OperatorError, PlanView};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    admin::request::{Page, PageLimit, Reason, act, query},
    endpoint::Endpoint,
    openapi::{Operation, Tag, with_members},
    request::{Fields, HandleFilter, LabelFilter, Member, RequestBody, invalid, request_body},
};

request_body! {
    /// The filters of the list. A key must match all of them.
    struct ListKeysRequest {
        /// Keys of this account.
        account_id: Option<AccountId>,
        /// Keys that show this handle, including revoked keys.
        #[schemars(with = "Option<Handle>")]
        handle: Option<HandleFilter>,
        /// Keys with exactly this label.
        #[schemars(with = "Option<Label>")]
        label: Option<LabelFilter>,
        /// Keys in this state.
        status: Option<KeyStatus>,
        /// Keys on this plan.
        #[schemars(extend("enum" = Plan::NAMES))]
        plan: Option<String> => refuse_unknown_plan(plan.as_deref()),
        /// The maximum number of entries, 100 by default.
        #[schemars(default)]
        limit: PageLimit,
        /// The `next_cursor` of the previous page.
        cursor: Option<ApiKeyId>,
    }
}

fn refuse_unknown_plan(plan: Option<&str>) -> Result<(), Refusal> {
    if plan.is_some_and(|plan| !Plan::NAMES.contains(&plan)) {
        return Err(invalid("plan", format!("must be one of {}", Plan::NAMES.join(", "))));
    }
    Ok(())
}

request_body! {
    /// The key to show.
    struct ShowKeyRequest {
        /// The API key.
        api_key_id: ApiKeyId,
    }
}

request_body! {
    /// The key to change.
    #[schemars(rename = "KeyActRequest")]
    struct KeyAct {
        /// The API key.
        api_key_id: ApiKeyId,
        /// The reason, for the audit trail.
        reason: Reason,
    }
}

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
    /// The selected plan, if its limits are fixed. `None` for the plan enterprise, whose limits are in `agreement`.
    fixed: Option<Plan>,
    agreement: Agreement,
    reason: Reason,
}

impl RequestBody for PlanChoice {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["api_key_id", "plan", "reason"])?;
        let api_key_id = ApiKeyId::read(fields, "api_key_id")?;
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
        Ok(Self { api_key_id, fixed, agreement, reason: Reason::read(fields, "reason")? })
    }
}

/// `POST /admin/v1/keys/list`
pub(super) fn list_keys() -> Endpoint {
    let key = example_with(json!({ "created_at": "2026-11-21T06:56:38.596Z", "blocked": false }));
    let page = json!({ "entries": [key], "next_cursor": null });
    let operation = Operation::new::<Page<KeyRowView>>("listKeys", page)
        .describe(Tag::Keys, "List keys", "Lists API keys, newest first.")
        .optional_body::<ListKeysRequest>(vec![
            ("The newest keys", json!({})),
            ("Keys of a plan", json!({ "plan": "builder", "limit": 20 })),
        ])
        .refuses(&[Code::InvalidField]);
    query(operation, |operator, body: ListKeysRequest| {
        let ListKeysRequest { account_id: account, handle, label, status, plan, limit, cursor } =
            body;
        let handle = handle.map(|HandleFilter(handle)| handle);
        let label = label.map(|LabelFilter(label)| label);
        let filter = KeyFilter { account, handle, label, status, plan };
        let page = operator.keys(&filter, cursor.as_ref(), limit.0)?;
        Ok(Page::new(page, |last| last.key.api_key_id.to_string()))
    })
}

/// `POST /admin/v1/keys/show`
pub(super) fn show_key() -> Endpoint {
    let window = |limit: u32| {
        let resets_at = "2026-11-22T00:00:00.000Z";
        json!({ "limit": limit, "used": 12, "remaining": limit - 12, "resets_at": resets_at })
    };
    let key = example_with(json!({
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
    let operation = Operation::new::<KeyDetails>("getKey", key)
        .describe(
            Tag::Keys,
            "Show a key",
            "Shows a key with its usage, its governance and at most 100 webhooks.",
        )
        .body::<ShowKeyRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::SubjectNotFound]);
    query(operation, |operator, body: ShowKeyRequest| operator.key_details(&body.api_key_id))
}

/// `POST /admin/v1/keys/plan`
pub(super) fn set_plan() -> Endpoint {
    let key = "ak_01m7ye92k0ejgs32r4n1j3x7m3";
    let plan = example_with(json!({
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
    let operation = Operation::new::<PlanView>("setPlan", plan)
        .describe(
            Tag::Keys,
            "Set the plan of a key",
            "Sets the plan of a key. Its usage so far counts against the new limits. A repeated call changes nothing else.",
        )
        .body::<SetPlanRequest>(vec![("A plan with fixed limits", fixed), ("Agreed limits", agreed)]);
    act(
        operation,
        |operator, choice: PlanChoice| {
            let PlanChoice { api_key_id, fixed, agreement, reason: _ } = choice;
            match fixed {
                Some(plan) => operator.set_plan(&api_key_id, plan),
                None => operator.agree(&api_key_id, agreement),
            }
        },
        |body| &body.reason,
    )
}

/// `POST /admin/v1/keys/deactivate`
pub(super) fn deactivate() -> Endpoint {
    let about = ["Deactivate a key", DEACTIVATE];
    let members = json!({ "status": "deactivated" });
    key_act("deactivateKey", about, members, Operator::deactivate_key)
}

/// `POST /admin/v1/keys/reactivate`
pub(super) fn reactivate() -> Endpoint {
    let about = ["Reactivate a key", "Enables a deactivated key again."];
    let members = json!({ "status": "active" });
    key_act("reactivateKey", about, members, Operator::reactivate_key)
}

/// `POST /admin/v1/keys/rotate`
pub(super) fn rotate() -> Endpoint {
    let about = ["Rotate a sealing key", ROTATE];
    key_act("rotateKey", about, json!({ "status": "active" }), Operator::rotate_key)
}

/// `POST /admin/v1/keys/revoke`
pub(super) fn revoke_key() -> Endpoint {
    let about = ["Revoke a key", REVOKE];
    let members = json!({ "status": "revoked", "registrations": 1, "deliveries": 0 });
    key_act("revokeKey", about, members, Operator::revoke_key)
}

/// Returns the endpoint of an admin action on a key, with its summary and its description. `members` are added to the
/// key in the example response.
fn key_act<T: JsonSchema + Serialize + Send + 'static>(
    id: &'static str,
    [summary, description]: [&'static str; 2],
    members: Value,
    perform: fn(&Operator, &ApiKeyId) -> Result<T, OperatorError>,
) -> Endpoint {
    let body = json!({ "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3", "reason": "Ticket 4711" });
    let operation = Operation::new::<T>(id, example_with(members))
        .describe(Tag::Keys, summary, description)
        .body::<KeyAct>(vec![("", body)])
        .refuses(&[Code::ActionRefused]);
    let perform = move |operator: &Operator, body: KeyAct| perform(operator, &body.api_key_id);
    act(operation, perform, |body| &body.reason)
}

/// Returns an example of an API key in a response, with further members.
fn example_with(members: Value) -> Value {
    let key = json!({
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "did": "did:key:z6MkvDqGT54cXesYGvABpF1UapVNwjCqRcafi4Px6Thv5T3Z",
        "status": "active",
        "plan": "builder",
        "label": "Orders",
        "handle": "orders",
    });
    with_members(key, members)
}

const DEACTIVATE: &str = "Disables a key until it is reactivated. It can neither send nor receive.";
const ROTATE: &str = "\
Replaces the sealing key of an API key. The DID stays, and old envelopes can be opened. Each call rotates again.";
const REVOKE: &str = "\
Revokes a key permanently, and deletes its webhooks and their pending deliveries. Envelopes to the key can never be \
opened again.";
