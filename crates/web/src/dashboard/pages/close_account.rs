//! The page that closes the account. Closing is permanent, so the user must type the login secret.

use askama::Template;
use sealpost_domain::{AccountId, Code};
use sealpost_service::AccountClosed;

use crate::dashboard::{
    forms::{Form, Rejection},
    response::{Frame, PageResponse},
    session::{SignedInUser, cookie},
};

#[derive(Template)]
#[template(path = "dashboard/close_account.html")]
struct ClosePage<'a> {
    base: &'a str,
    form_token: &'a str,
    account_id: AccountId,
    problem: Option<&'a str>,
}

/// The page after an account was closed. It shows the data that was deleted, and the data that stays.
#[derive(Template)]
#[template(path = "dashboard/account_closed.html")]
struct ClosedPage {
    closed: AccountClosed,
}

pub(crate) async fn show(user: SignedInUser) -> Result<PageResponse, PageResponse> {
    let account_id = user.ask(async |owner| Ok(owner.account_id())).await?;
    Ok(PageResponse::ok(user.frame(), TITLE, &page(&user, account_id, None)))
}

pub(crate) async fn submit(user: SignedInUser, form: Form) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let login_secret = form.text("login_secret").to_owned();
    let sealpost = &user.app.api.sealpost;
    let (account_id, closed) = user
        .ask(async |owner| {
            let (session, source) = (owner.session(), owner.source());
            let closed = sealpost.close_account(session, login_secret, source).await;
            Ok((owner.account_id(), closed))
        })
        .await?;
    match closed {
        Ok(closed) => {
            let frame = Frame::public(user.site());
            Ok(PageResponse::ok(frame, "Account closed", &ClosedPage { closed })
                .with_cookie(&cookie::delete(&user.app)))
        }
        Err(error) => match error.refusal() {
            Some(refusal) if refusal.code() == Code::Unauthorized => {
                let rejection = Rejection::field("The login secret is wrong. Nothing was closed.");
                let main = page(&user, account_id, Some(&rejection.text));
                Ok(PageResponse::rejected(user.frame(), TITLE, &rejection, &main))
            }
            _ => Err(PageResponse::service_error(user.site(), &error)),
        },
    }
}

fn page<'a>(
    user: &'a SignedInUser,
    account_id: AccountId,
    problem: Option<&'a str>,
) -> ClosePage<'a> {
    ClosePage { base: user.base(), form_token: &user.form_token, account_id, problem }
}

const TITLE: &str = "Close the account";
