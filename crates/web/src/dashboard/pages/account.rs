//! The account page: lists and ends sessions, and replaces the login secret.

use askama::Template;
use sealpost_domain::AccountId;
use sealpost_service::{Scope, SessionView, Truncated};

use crate::dashboard::{
    forms::Form,
    response::PageResponse,
    session::SignedInUser,
    text::{hour, when},
};

#[derive(Template)]
#[template(path = "dashboard/account.html")]
struct AccountPage<'a> {
    base: &'a str,
    form_token: &'a str,
    account_id: AccountId,
    sessions: Truncated<SessionView>,
}

/// The page that shows a new login secret, only once, because the service cannot show it again.
#[derive(Template)]
#[template(path = "dashboard/secret_rotated.html")]
struct SecretPage<'a> {
    base: &'a str,
    account_id: AccountId,
    login_secret: &'a str,
}

pub(crate) async fn show(user: SignedInUser) -> Result<PageResponse, PageResponse> {
    let (account_id, sessions) =
        user.ask(async |owner| Ok((owner.account_id(), owner.sessions().await?))).await?;
    let (base, form_token) = (user.base(), &*user.form_token);
    let main = AccountPage { base, form_token, account_id, sessions };
    Ok(PageResponse::ok(user.frame(), "Account", &main))
}

/// Ends the session of this browser.
pub(crate) async fn sign_out(user: SignedInUser, form: Form) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    end(&user, Scope::Session).await
}

/// Ends one session, or all sessions of the account.
pub(crate) async fn end_session(
    user: SignedInUser,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let name = form.text("session").to_owned();
    if name == EVERY_SESSION {
        return end(&user, Scope::Account).await;
    }
    user.ask(async |owner| owner.end_session(&name).await).await?;
    Ok(PageResponse::redirect(user.site(), "/dashboard/account"))
}

/// Replaces the login secret and shows the new one.
pub(crate) async fn rotate_secret(
    user: SignedInUser,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let sealpost = &user.app.api.sealpost;
    let rotated = user
        .ask(async |owner| sealpost.rotate_login_secret(owner.session(), owner.source()).await)
        .await?;
    let (account_id, login_secret) = (rotated.account_id, &*rotated.login_secret);
    let main = SecretPage { base: user.base(), account_id, login_secret };
    Ok(PageResponse::ok(user.frame(), "New login secret", &main))
}

async fn end(user: &SignedInUser, scope: Scope) -> Result<PageResponse, PageResponse> {
    let sealpost = &user.app.api.sealpost;
    user.ask(async |owner| sealpost.logout(owner.session(), scope, owner.source()).await).await?;
    Ok(PageResponse::redirect_to_sign_in(&user.app))
}

const EVERY_SESSION: &str = "all";
