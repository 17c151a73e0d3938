//! The account itself: its sessions and its login secret.

use askama::Template;
use sealpost_domain::AccountId;
use sealpost_service::{Scope, SessionView, Truncated};

use crate::dashboard::{form::Form, page::Page, show::when, signed_in::SignedIn};

#[derive(Template)]
#[template(path = "dashboard/account.html")]
struct AccountPage<'a> {
    base: &'a str,
    form_token: &'a str,
    account_id: AccountId,
    sessions: Truncated<SessionView>,
}

/// Shown once, since the secret cannot be shown again.
#[derive(Template)]
#[template(path = "dashboard/secret_rotated.html")]
struct SecretPage<'a> {
    base: &'a str,
    account_id: AccountId,
    login_secret: &'a str,
}

pub(crate) async fn show(who: SignedIn) -> Result<Page, Page> {
    let (account_id, sessions) =
        who.ask(async |owner| Ok((owner.account_id(), owner.sessions().await?))).await?;
    let (base, form_token) = (who.base(), &*who.form_token);
    let main = AccountPage { base, form_token, account_id, sessions };
    Ok(Page::show(who.frame(), "Account", &main))
}

/// Ends this session.
pub(crate) async fn sign_out(who: SignedIn, form: Form) -> Result<Page, Page> {
    who.check(&form)?;
    end(&who, Scope::Session).await
}

/// Ends one session, or every one.
pub(crate) async fn end_session(who: SignedIn, form: Form) -> Result<Page, Page> {
    who.check(&form)?;
    let name = form.text("session").to_owned();
    if name == EVERY_SESSION {
        return end(&who, Scope::Account).await;
    }
    who.ask(async |owner| owner.end_session(&name).await).await?;
    Ok(Page::to(who.place(), "/dashboard/account"))
}

/// Replaces the login secret and shows the new one.
pub(crate) async fn rotate_secret(who: SignedIn, form: Form) -> Result<Page, Page> {
    who.check(&form)?;
    let sealpost = &who.app.api.sealpost;
    let rotated =
        who.ask(async |owner| sealpost.rotate_login_secret(owner.session()).await).await?;
    let (account_id, login_secret) = (rotated.account_id, &*rotated.login_secret);
    let main = SecretPage { base: who.base(), account_id, login_secret };
    Ok(Page::show(who.frame(), "New login secret", &main))
}

async fn end(who: &SignedIn, scope: Scope) -> Result<Page, Page> {
    let sealpost = &who.app.api.sealpost;
    who.ask(async |owner| sealpost.logout(owner.session(), scope).await).await?;
    Ok(Page::to_sign_in(&who.app))
}

const EVERY_SESSION: &str = "all";
