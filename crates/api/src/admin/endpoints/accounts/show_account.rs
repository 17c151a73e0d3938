//! `POST /admin/v1/accounts/show`: shows an account with its newest keys.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{AccountId, Code, Refusal};
use sealpost_service::AccountDetails;
use serde_json::json;

use super::example;
use crate::{
    admin::{page::parsed_required, request::ViewRequest},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    response::JsonResponse,
};

/// The account to show.
#[derive(JsonSchema)]
struct ShowAccountRequest {
    /// The id of the account.
    account_id: AccountId,
}

impl RequestBody for ShowAccountRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["account_id"])?;
        Ok(Self { account_id: parsed_required(fields, "account_id")? })
    }
}

async fn show_account(request: ViewRequest<ShowAccountRequest>) -> JsonResponse<AccountDetails> {
    let account = request.ask(|operator, body| operator.show_account(&body.account_id));
    Ok(web::Json(account.await?))
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(show_account) }
}

fn operation() -> Operation {
    let mut account = example();
    if let Some(members) = account.as_object_mut() {
        let more = [("session_count", json!(1)), ("webhook_count", json!(0)), ("keys", json!([]))];
        members.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    let body = json!({ "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka" });
    Operation::new::<AccountDetails>("getAccount", account)
        .describe(Tag::Accounts, "Show an account", "Shows an account with its newest 100 keys.")
        .operator()
        .body::<ShowAccountRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::SubjectNotFound])
}
