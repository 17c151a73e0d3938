//! The page that revokes an identity. The user must type the API key, because a revocation is permanent.

use actix_web::web;
use askama::Template;
use sealpost_domain::KeyStatus;
use sealpost_service::{KeyPage, KeyStanding, PendingCount};

use super::{identity::load, key_of};
use crate::dashboard::{
    forms::{Form, Rejection},
    response::PageResponse,
    session::SignedInUser,
};

#[derive(Template)]
#[template(path = "dashboard/revoke.html")]
struct RevokePage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a KeyStanding,
    waiting: PendingCount,
    problem: Option<&'a str>,
}

pub(crate) async fn show(
    user: SignedInUser,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let view = load(&user, &key).await?.key;
    if view.standing.status == KeyStatus::Revoked {
        let key = format!("/dashboard/keys/{}", view.standing.api_key_id);
        return Ok(PageResponse::redirect(user.site(), &key));
    }
    Ok(PageResponse::ok(user.frame(), &title(&view), &page(&user, &view, None)))
}

pub(crate) async fn submit(
    user: SignedInUser,
    key: web::Path<String>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let id = key_of(&user, &key)?;
    if form.text("typed") != id.to_string() {
        let view = load(&user, &key).await?.key;
        let rejection = Rejection::field("The typed key does not match. Nothing was revoked.");
        let main = page(&user, &view, Some(&rejection.text));
        return Ok(PageResponse::rejected(user.frame(), &title(&view), &rejection, &main));
    }
    user.ask(async |owner| owner.revoke(&id).await).await?;
    Ok(PageResponse::redirect(user.site(), &format!("/dashboard/keys/{id}")))
}

fn page<'a>(user: &'a SignedInUser, view: &'a KeyPage, problem: Option<&'a str>) -> RevokePage<'a> {
    let (base, form_token) = (user.base(), &*user.form_token);
    RevokePage { base, form_token, key: &view.standing, waiting: view.pending, problem }
}

fn title(view: &KeyPage) -> String {
    format!("Revoke {}", view.standing.label)
}
