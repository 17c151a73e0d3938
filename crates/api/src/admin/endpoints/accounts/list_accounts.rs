//! `POST /admin/v1/accounts/list`: lists accounts.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{AccountId, Code, Refusal};
use sealpost_service::AccountShown;
use serde_json::json;

use super::example;
use crate::{
    admin::{
        page::{Page, PageChoice},
        request::ViewRequest,
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    response::JsonResponse,
};

/// The page to show.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the fields describe the schema")]
struct ListAccountsRequest {
    /// The maximum number of entries, 100 by default.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    cursor: Option<AccountId>,
}

impl RequestBody for PageChoice<AccountId> {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        Self::read_members(fields)
    }
}

async fn list_accounts(
    request: ViewRequest<PageChoice<AccountId>>,
) -> JsonResponse<Page<AccountShown>> {
    let page = request.ask(|operator, page| operator.accounts(page.cursor.as_ref(), page.limit));
    Ok(web::Json(Page::new(page.await?, |last| last.account_id.to_string())))
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(list_accounts) }
}

fn operation() -> Operation {
    let page = json!({ "entries": [example()], "next_cursor": "acct_01m7ye92k0e5wsvs5qjndehdka" });
    Operation::new::<Page<AccountShown>>("listAccounts", page)
        .describe(Tag::Accounts, "List accounts", "Lists accounts, newest first.")
        .operator()
        .optional_body::<ListAccountsRequest>(vec![("", json!({ "limit": 20 }))])
        .refuses(&[Code::InvalidField])
}
