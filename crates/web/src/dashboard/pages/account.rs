//! The page of the account: its sessions and its secrets.

use actix_web::HttpRequest;
use askama::Template;
use sealpost_domain::{AccountId, Timestamp};
use sealpost_service::{Owner, Scope, SessionView, Truncated};

use crate::dashboard::{
    forms::{Form, Rejection},
    response::PageResponse,
    session::{EndingUser, SignedInUser},
    text::{ago, hour},
};

#[derive(Template)]
#[template(path = "dashboard/account.html")]
struct AccountPage<'a> {
    base: &'a str,
    form_token: &'a str,
    account_id: AccountId,
    now: Timestamp,
    sessions: Truncated<SessionView>,
    needs_secret: bool,
    problem: Option<&'a str>,
}

/// The page with the new login secret and recovery code. The service cannot show them again.
#[derive(Template)]
#[template(path = "dashboard/secret_rotated.html")]
struct SecretPage<'a> {
    base: &'a str,
    account_id: AccountId,
    login_secret: &'a str,
    recovery_code: &'a str,
}

pub(crate) async fn show(ending: EndingUser) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    let main = page(user, None).await?;
    Ok(PageResponse::ok(user.frame(), TITLE, &main))
}

/// Ends the session of this browser.
pub(crate) async fn sign_out(ending: EndingUser, form: Form) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    user.check(&form)?;
    let sealpost = &user.app.api.sealpost;
    let logout = async |owner: &Owner<'_>| {
        sealpost.logout(owner.session(), Scope::Session, owner.source()).await
    };
    user.ask(logout).await?;
    Ok(PageResponse::redirect_to_sign_in(&user.app))
}

/// Ends one session, or all sessions of the account.
pub(crate) async fn end_session(
    ending: EndingUser,
    request: HttpRequest,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    user.check(&form)?;
    let name = form.text("session").to_owned();
    if name == EVERY_SESSION {
        let owner = match user.confirm(&request, &form).await? {
            Ok(owner) => owner,
            Err(rejection) => return reject(user, &rejection).await,
        };
        owner.end_all_sessions().await.map_err(|error| user.error_response(&error))?;
        return Ok(PageResponse::redirect_to_sign_in(&user.app));
    }
    user.ask(async |owner| owner.end_session(&name).await).await?;
    Ok(PageResponse::redirect(user.site(), "/dashboard/account"))
}

/// Replaces the login secret and the recovery code, and shows the new ones.
pub(crate) async fn replace_secrets(
    ending: EndingUser,
    request: HttpRequest,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    user.check(&form)?;
    let owner = match user.confirm(&request, &form).await? {
        Ok(owner) => owner,
        Err(rejection) => return reject(user, &rejection).await,
    };
    let secrets = owner.replace_secrets().await.map_err(|error| user.error_response(&error))?;
    let main = SecretPage {
        base: user.base(),
        account_id: secrets.account_id,
        login_secret: &secrets.login_secret,
        recovery_code: &secrets.recovery_code,
    };
    Ok(PageResponse::ok(user.frame(), "New secrets", &main))
}

async fn reject(user: &SignedInUser, rejection: &Rejection) -> Result<PageResponse, PageResponse> {
    let main = page(user, Some(&rejection.text)).await?;
    Ok(PageResponse::rejected(user.frame(), TITLE, rejection, &main))
}

async fn page<'a>(
    user: &'a SignedInUser,
    problem: Option<&'a str>,
) -> Result<AccountPage<'a>, PageResponse> {
    let (account_id, sessions) =
        user.ask(async |owner| Ok((owner.account_id(), owner.sessions().await?))).await?;
    let needs_secret = user.needs_secret().await?;
    let (base, form_token) = (user.base(), &*user.form_token);
    let now = user.app.api.clock.now();
    Ok(AccountPage { base, form_token, account_id, now, sessions, needs_secret, problem })
}

const EVERY_SESSION: &str = "all";
const TITLE: &str = "Account";
