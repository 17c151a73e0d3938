//! The list of accounts, and the page of one account with its forms.

use actix_web::{http::StatusCode, web};
use askama::Template;
use sealpost_domain::{AccountId, GovernanceSubject, PartnerId};
use sealpost_service::{AccountDetails, AccountView};
use serde::Deserialize;

use crate::{
    console::{
        form::{ActFault, ActForm},
        response::may_act,
        user::ConsoleUser,
    },
    dashboard::{
        forms::Draft,
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
    accounts: Vec<AccountView>,
    next_cursor: Option<AccountId>,
}

#[derive(Template)]
#[template(path = "console/account.html")]
struct AccountPage<'a> {
    base: &'a str,
    form_token: &'a str,
    may_act: bool,
    details: AccountDetails,
    /// True if the account has keys that the page does not show.
    has_more_keys: bool,
    draft: Draft<'a>,
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
    page(&user, id, Draft::default()).await
}

pub(crate) async fn submit(
    act: ActForm,
    account: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = account_of(&act.user, &account)?;
    match perform(&act, id).await {
        Ok(notice) => Ok(act.done(&format!("/console/accounts/{id}"), notice).await),
        Err(ActFault::Page(page)) => Err(page),
        Err(ActFault::Rejected(rejection)) => {
            page(&act.user, id, Draft::rejected(&act.form, &rejection)).await
        }
    }
}

async fn page(
    user: &ConsoleUser,
    id: AccountId,
    draft: Draft<'_>,
) -> Result<PageResponse, PageResponse> {
    let details = user.ask(move |operator| operator.show_account(&id)).await?;
    let shown = u64::try_from(details.keys.len()).unwrap_or(u64::MAX);
    let main = AccountPage {
        base: user.base(),
        form_token: &user.form_token,
        may_act: may_act(&user.operator),
        has_more_keys: details.account.key_count > shown,
        details,
        draft,
    };
    Ok(user.show_form("/console/accounts", &format!("Account {id}"), draft, &main))
}

/// Performs the admin action that the field `do` of the form selects. Returns the text that confirms the action on the
/// page.
async fn perform(act: &ActForm, id: AccountId) -> Result<&'static str, ActFault> {
    let reason = act.reason()?;
    let subject = GovernanceSubject::Account(id);
    Ok(match act.form.text("do") {
        "propose" => {
            act.perform(move |o| o.propose(subject, &reason)).await.map(drop)?;
            "The council action is proposed."
        }
        "enforce" => {
            act.perform(move |o| o.enforce(subject, &reason)).await.map(drop)?;
            "The council action is enforced."
        }
        "lift" => {
            act.perform(move |o| o.lift(subject, &reason)).await.map(drop)?;
            "The council action is lifted."
        }
        "end_sessions" => {
            act.perform(move |o| o.end_sessions(Some(&id))).await.map(drop)?;
            "All sessions of the account are ended."
        }
        "assign" => {
            let partner = PartnerId::parse(act.form.text("partner"));
            let partner = partner.map_err(|fault| {
                ActFault::field("partner", format!("The name of the partner {fault}."))
            })?;
            act.perform(move |o| o.assign_partner(&id, &partner)).await.map(drop)?;
            "The partner is assigned."
        }
        "suspend" => {
            let partner = partner_of(act, id).await?;
            act.perform(move |o| o.suspend_partner(&partner, &reason)).await.map(drop)?;
            "The partner is suspended."
        }
        "restore" => {
            let partner = partner_of(act, id).await?;
            act.perform(move |o| o.restore_partner(&partner, &reason)).await.map(drop)?;
            "The suspension of the partner is ended."
        }
        _ => {
            let field = format!("reason-{}", act.form.text("form"));
            return Err(ActFault::field(&field, "Choose an act."));
        }
    })
}

/// Returns the partner of an account. Rejects the form if the account has no partner, or if the partner has changed
/// since the page of the form was shown.
async fn partner_of(act: &ActForm, id: AccountId) -> Result<PartnerId, ActFault> {
    let account = act.user.ask(move |operator| operator.show_account(&id)).await?.account;
    let partner = account.partner.and_then(|name| PartnerId::parse(&name).ok());
    let partner =
        partner.ok_or_else(|| ActFault::field("partner", "The account has no partner."))?;
    let shown = act.form.text("shown_partner");
    if shown.is_empty() || shown == partner.as_str() {
        return Ok(partner);
    }
    let text = format!("The account is now in the partner {}. Nothing was done.", partner.as_str());
    Err(ActFault::field("partner", text))
}

/// Parses the account id in a path. If the account id is malformed, returns the 404 page as the error.
fn account_of(user: &ConsoleUser, text: &str) -> Result<AccountId, PageResponse> {
    let missing = |_malformed| user.reject(StatusCode::NOT_FOUND, "There is no such account.");
    text.parse().map_err(missing)
}

const LIMIT: u32 = 50;
