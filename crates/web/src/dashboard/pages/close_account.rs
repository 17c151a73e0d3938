//! The page that closes the account. Closing is permanent, so the user must type the login secret.

use actix_web::HttpRequest;
use askama::Template;
use sealpost_domain::{AccountId, Code};
use sealpost_service::AccountClosed;

use crate::dashboard::{
    forms::{Draft, Form, Rejection},
    response::{Frame, PageResponse},
    session::{EndingUser, SignedInUser, cookie},
};

#[derive(Template)]
#[template(path = "dashboard/close_account.html")]
struct ClosePage<'a> {
    base: &'a str,
    form_token: &'a str,
    account_id: AccountId,
    draft: Draft<'a>,
}

/// The page after an account was closed. It shows the data that was deleted, and the data that stays.
#[derive(Template)]
#[template(path = "dashboard/account_closed.html")]
struct ClosedPage {
    closed: AccountClosed,
}

pub(crate) async fn show(ending: EndingUser) -> PageResponse {
    let (user, _slot) = ending.start().await;
    page(user, Draft::default())
}

pub(crate) async fn submit(
    ending: EndingUser,
    request: HttpRequest,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    user.check(&form)?;
    let login_secret = form.text("login_secret").to_owned();
    if let Err(rejection) =
        user.verify_secret(&request, &login_secret, ATTEMPTED, WRONG_SECRET).await?
    {
        return Ok(page(user, Draft::rejected(&form, &rejection)));
    }
    let sealpost = &user.app.api.sealpost;
    let closed = user
        .ask(async |owner| {
            let owner = owner.session().with_secret(login_secret, owner.source());
            Ok(sealpost.accounts.close(owner).await)
        })
        .await?;
    match closed {
        Ok(closed) => {
            let frame = Frame::public(user.site());
            Ok(PageResponse::ok(frame, "Account closed", &ClosedPage { closed })
                .with_cookie(&cookie::session(&user.app).deletion()))
        }
        Err(error) => match error.refusal() {
            Some(refusal) if refusal.code() == Code::Unauthorized => {
                let rejection = Rejection::field("login_secret", WRONG_SECRET);
                Ok(page(user, Draft::rejected(&form, &rejection)))
            }
            _ => Err(PageResponse::service_error(user.frame(), &error)),
        },
    }
}

fn page(user: &SignedInUser, draft: Draft<'_>) -> PageResponse {
    let (base, form_token) = (user.base(), &*user.form_token);
    let main = ClosePage { base, form_token, account_id: user.account_id(), draft };
    PageResponse::of_form(user.frame(), TITLE, draft, &main)
}

const TITLE: &str = "Close the account";
const ATTEMPTED: &str = "closing the account";
const WRONG_SECRET: &str = "The login secret is wrong. Nothing was closed.";
