//! Operator endpoints for accounts.

use sealpost_domain::{AccountId, Code};
use sealpost_service::{AccountDetails, AccountView, SessionsEnded};
use serde_json::{Value, json};

use crate::{
    admin::request::{Page, PageLimit, Reason, act, query},
    endpoint::Endpoint,
    openapi::{Operation, Tag, with_members},
    request::request_body,
};

request_body! {
    /// The page to show.
    struct ListAccountsRequest {
        /// The maximum number of entries, 100 by default.
        #[schemars(default)]
        limit: PageLimit,
        /// The `next_cursor` of the previous page.
        cursor: Option<AccountId>,
    }
}

request_body! {
    /// The account to show.
    struct ShowAccountRequest {
        /// The id of the account.
        account_id: AccountId,
    }
}

request_body! {
    /// The account whose sessions end.
    struct EndSessionsRequest {
        /// The id of the account.
        account_id: AccountId,
        /// The reason, for the audit trail.
        reason: Reason,
    }
}

/// `POST /admin/v1/accounts/list`
pub(super) fn list_accounts() -> Endpoint {
    let page = json!({ "entries": [example()], "next_cursor": "acct_01m7ye92k0e5wsvs5qjndehdka" });
    let operation = Operation::new::<Page<AccountView>>("listAccounts", page)
        .describe(Tag::Accounts, "List accounts", "Lists accounts, newest first.")
        .optional_body::<ListAccountsRequest>(vec![("", json!({ "limit": 20 }))])
        .refuses(&[Code::InvalidField]);
    query(operation, |operator, body: ListAccountsRequest| {
        let page = operator.accounts(body.cursor.as_ref(), body.limit.0)?;
        Ok(Page::new(page, |last| last.account_id.to_string()))
    })
}

/// `POST /admin/v1/accounts/show`
pub(super) fn show_account() -> Endpoint {
    let governance = json!({ "blocked": false, "reasons": [] });
    let more =
        json!({ "session_count": 1, "webhook_count": 0, "governance": governance, "keys": [] });
    let account = with_members(example(), more);
    let body = json!({ "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka" });
    let operation = Operation::new::<AccountDetails>("getAccount", account)
        .describe(
            Tag::Accounts,
            "Show an account",
            "Shows an account with its decisions and its newest 100 keys.",
        )
        .body::<ShowAccountRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::SubjectNotFound]);
    query(operation, |operator, body: ShowAccountRequest| operator.show_account(&body.account_id))
}

/// `POST /admin/v1/accounts/end-sessions`
pub(super) fn end_sessions() -> Endpoint {
    let account = "acct_01m7ye92k0e5wsvs5qjndehdka";
    let ended = json!({ "account_id": account, "session_count": 3 });
    let operation = Operation::new::<SessionsEnded>("endSessions", ended)
        .describe(
            Tag::Accounts,
            "End the sessions of an account",
            "Ends all sessions of an account. Its login secret stays valid.",
        )
        .body::<EndSessionsRequest>(vec![(
            "",
            json!({ "account_id": account, "reason": "Stolen laptop" }),
        )]);
    act(
        operation,
        |operator, body: EndSessionsRequest| operator.end_sessions(Some(&body.account_id)),
        |body| &body.reason,
    )
}

/// Returns an example of an account in a response.
fn example() -> Value {
    json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "partner": "acme",
        "key_count": 2,
        "created_at": "2026-11-21T06:56:38.596Z",
        "closed_at": null,
        "erased_at": null,
    })
}
