//! The list of accounts, and the page of one account with its forms.

use actix_web::{http::StatusCode, web};
use askama::Template;
use sealpost_domain::{AccountId, GovernanceSubject, PartnerId};
use sealpost_service::{AccountDetails, AccountShown, OperatorRole};
use serde::Deserialize;

use crate::{
    console::{form::ActForm, user::ConsoleUser},
    dashboard::{
        response::PageResponse,
        text::{day, short_id, when},
    },
};

/// The query parameters of the list of accounts.
#[derive(Deserialize)]
pub(crate) struct AccountSearch {
    #[serde(default)]
    cursor: String,
}

#[derive(Template)]
#[template(path = "console/accounts.html")]
struct AccountsPage<'a> {
    base: &'a str,
    accounts: Vec<AccountShown>,
    next_cursor: Option<AccountId>,
}

#[derive(Template)]
#[template(path = "console/account.html")]
struct AccountPage<'a> {
    base: &'a str,
    form_token: &'a str,
    may_act: bool,
    details: AccountDetails,
}

pub(crate) async fn list(
    user: ConsoleUser,
    search: web::Query<AccountSearch>,
) -> Result<PageResponse, PageResponse> {
    let cursor = search.cursor.parse::<AccountId>().ok();
    let page = user.ask(move |operator| operator.accounts(cursor.as_ref(), LIMIT)).await?;
    let next_cursor = page.entries.last().filter(|_| page.more).map(|last| last.account_id);
    let main = AccountsPage { base: user.base(), accounts: page.entries, next_cursor };
    Ok(user.show("/console/accounts", "Accounts", &main))
}

pub(crate) async fn show(
    user: ConsoleUser,
    account: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = account_of(&user, &account)?;
    let details = user.ask(move |operator| operator.show_account(&id)).await?;
    let main = AccountPage {
        base: user.base(),
        form_token: &user.form_token,
        may_act: user.operator.role == OperatorRole::Operator,
        details,
    };
    Ok(user.show("", &format!("Account {id}"), &main))
}

pub(crate) async fn submit(
    act: ActForm,
    account: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = account_of(&act.user, &account)?;
    let reason = act.reason().to_owned();
    let subject = GovernanceSubject::Account(id);
    match act.form.text("do") {
        "propose" => act.perform(move |o| o.propose(subject, &reason)).await.map(drop)?,
        "enforce" => act.perform(move |o| o.enforce(subject, &reason)).await.map(drop)?,
        "lift" => act.perform(move |o| o.lift(subject, &reason)).await.map(drop)?,
        "end_sessions" => act.perform(move |o| o.end_sessions(Some(&id))).await.map(drop)?,
        "assign" => {
            let partner = PartnerId::parse(act.form.text("partner"));
            let partner = partner.map_err(|fault| act.invalid(&format!("{fault}.")))?;
            act.perform(move |o| o.assign_partner(&id, &partner)).await.map(drop)?;
        }
        "suspend" | "restore" => change_partner(&act, &id).await?,
        _ => return Err(act.invalid("Choose an act.")),
    }
    Ok(act.done(&format!("/console/accounts/{id}")))
}

/// Suspends the partner of an account, or ends its suspension. The field `do` of the form selects the change.
async fn change_partner(act: &ActForm, id: &AccountId) -> Result<(), PageResponse> {
    let id = *id;
    let account = act.user.ask(move |operator| operator.show_account(&id)).await?.account;
    let none = || act.invalid("The account has no partner.");
    let partner = account.partner.and_then(|name| PartnerId::parse(&name).ok()).ok_or_else(none)?;
    let reason = act.reason().to_owned();
    if act.form.text("do") == "suspend" {
        act.perform(move |operator| operator.suspend_partner(&partner, &reason)).await.map(drop)
    } else {
        act.perform(move |operator| operator.restore_partner(&partner, &reason)).await.map(drop)
    }
}

/// Parses the account id in a path. If the account id is malformed, returns the 404 page as the error.
fn account_of(user: &ConsoleUser, text: &str) -> Result<AccountId, PageResponse> {
    let missing = |_malformed| user.reject(StatusCode::NOT_FOUND, "There is no such account.");
    text.parse().map_err(missing)
}

const LIMIT: u32 = 50;
