//! `POST /admin/v1/keys/list`: lists API keys.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKeyId, Code, Handle, KeyStatus, Label, Plan, Refusal, ports::KeyFilter,
};
use sealpost_service::KeyListed;
use serde_json::json;

use super::example_with;
use crate::{
    admin::{
        page::{Page, PageChoice, parsed},
        request::ViewRequest,
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, invalid},
    response::JsonResponse,
};

/// The filters of the list. A key must match all of them.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the fields describe the schema")]
struct ListKeysRequest {
    /// Keys of this account.
    account_id: Option<AccountId>,
    /// Keys that show this handle, including revoked keys.
    handle: Option<Handle>,
    /// Keys with exactly this label.
    label: Option<Label>,
    /// Keys in this state.
    status: Option<KeyStatus>,
    /// Keys on this plan.
    #[schemars(extend("enum" = Plan::NAMES))]
    plan: Option<String>,
    /// The maximum number of entries, 100 by default.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    cursor: Option<ApiKeyId>,
}

/// The filter of a request, and the page of the list that it selects.
struct KeyQuery {
    filter: KeyFilter,
    page: PageChoice<ApiKeyId>,
}

impl RequestBody for KeyQuery {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        let account = parsed(fields, "account_id")?;
        let handle = fields.optional_text("handle")?.map(|text| Handle::parse(&text)).transpose();
        let handle = handle.map_err(|fault| invalid("handle", fault.to_string()))?;
        let label = fields.optional_text("label")?.map(|text| Label::parse(&text)).transpose();
        let label = label.map_err(|fault| invalid("label", fault.to_string()))?;
        let status = fields.optional_text("status")?;
        let unknown = || invalid("status", "must be a state of a key, such as active");
        let status = status.map(|name| KeyStatus::from_name(&name).ok_or_else(unknown));
        let status = status.transpose()?;
        let plan = fields.optional_text("plan")?;
        if plan.as_deref().is_some_and(|plan| !Plan::NAMES.contains(&plan)) {
            return Err(invalid("plan", format!("must be one of {}", Plan::NAMES.join(", "))));
        }
        let filter = KeyFilter { account, handle, label, status, plan };
        Ok(Self { filter, page: PageChoice::read_members(fields)? })
    }
}

async fn list_keys(request: ViewRequest<KeyQuery>) -> JsonResponse<Page<KeyListed>> {
    let page = request.ask(|operator, KeyQuery { filter, page }| {
        operator.keys(&filter, page.cursor.as_ref(), page.limit)
    });
    Ok(web::Json(Page::new(page.await?, |last| last.key.api_key_id.to_string())))
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(list_keys) }
}

fn operation() -> Operation {
    let key = example_with(&json!({ "created_at": "2026-11-21T06:56:38.596Z" }));
    let page = json!({ "entries": [key], "next_cursor": null });
    Operation::new::<Page<KeyListed>>("listKeys", page)
        .describe(Tag::Keys, "List keys", "Lists API keys, newest first.")
        .operator()
        .optional_body::<ListKeysRequest>(vec![
            ("The newest keys", json!({})),
            ("Keys of a plan", json!({ "plan": "builder", "limit": 20 })),
        ])
        .refuses(&[Code::InvalidField])
}
