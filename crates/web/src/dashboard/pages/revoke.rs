//! The page that revokes an identity. The user must type the API key, because a revocation is permanent.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_domain::KeyStatus;
use sealpost_service::{KeyPage, KeyStanding, PendingCount};

use super::{identity::load, key_of};
use crate::dashboard::{
    forms::{Form, Rejection},
    response::PageResponse,
    session::{EndingUser, SignedInUser},
};

#[derive(Template)]
#[template(path = "dashboard/revoke.html")]
struct RevokePage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a KeyStanding,
    waiting: PendingCount,
    needs_secret: bool,
    problem: Option<&'a str>,
}

pub(crate) async fn show(
    ending: EndingUser,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    let view = load(user, &key).await?.key;
    if view.standing.status == KeyStatus::Revoked {
        let key = format!("/dashboard/keys/{}", view.standing.api_key_id);
        return Ok(PageResponse::redirect(user.site(), &key));
    }
    let needs_secret = user.needs_secret().await?;
    Ok(PageResponse::ok(user.frame(), &title(&view), &page(user, &view, needs_secret, None)))
}

pub(crate) async fn submit(
    ending: EndingUser,
    key: web::Path<String>,
    request: HttpRequest,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    user.check(&form)?;
    let id = key_of(user, &key)?;
    if form.text("typed") != id.to_string() {
        let rejection = Rejection::field("The typed key does not match. Nothing was revoked.");
        return reject(user, &key, &rejection).await;
    }
    let owner = match user.confirm(&request, &form).await? {
        Ok(owner) => owner,
        Err(rejection) => return reject(user, &key, &rejection).await,
    };
    owner.revoke(&id).await.map_err(|error| user.error_response(&error))?;
    Ok(PageResponse::redirect(user.site(), &format!("/dashboard/keys/{id}")))
}

async fn reject(
    user: &SignedInUser,
    key: &str,
    rejection: &Rejection,
) -> Result<PageResponse, PageResponse> {
    let view = load(user, key).await?.key;
    let main = page(user, &view, user.needs_secret().await?, Some(&rejection.text));
    Ok(PageResponse::rejected(user.frame(), &title(&view), rejection, &main))
}

fn page<'a>(
    user: &'a SignedInUser,
    view: &'a KeyPage,
    needs_secret: bool,
    problem: Option<&'a str>,
) -> RevokePage<'a> {
    let (base, form_token) = (user.base(), &*user.form_token);
    let (key, waiting) = (&view.standing, view.pending);
    RevokePage { base, form_token, key, waiting, needs_secret, problem }
}

fn title(view: &KeyPage) -> String {
    format!("Revoke {}", view.standing.label)
}
