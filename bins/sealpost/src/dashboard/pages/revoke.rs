//! Revoking an identity: final, so that the key must be typed.

use actix_web::web;
use askama::Template;
use sealpost_domain::KeyStatus;
use sealpost_service::{KeyStanding, Waiting};

use super::{key::look, key_of};
use crate::dashboard::{form::Form, page::Page, signed_in::SignedIn};

#[derive(Template)]
#[template(path = "dashboard/revoke.html")]
struct RevokePage<'a> {
    form_token: &'a str,
    key: &'a KeyStanding,
    waiting: Waiting,
    problem: Option<&'a str>,
}

pub(crate) async fn show(who: SignedIn, key: web::Path<String>) -> Result<Page, Page> {
    let seen = look(&who, &key).await?.page;
    if seen.standing.status == KeyStatus::Revoked {
        return Ok(Page::to(format!("/dashboard/keys/{}", seen.standing.api_key_id)));
    }
    let (form_token, key, waiting) = (&*who.form_token, &seen.standing, seen.waiting);
    Ok(Page::show(&RevokePage { form_token, key, waiting, problem: None }))
}

pub(crate) async fn submit(
    who: SignedIn,
    key: web::Path<String>,
    form: Form,
) -> Result<Page, Page> {
    who.check(&form)?;
    let id = key_of(&key)?;
    if form.text("typed") != id.to_string() {
        let seen = look(&who, &key).await?.page;
        let (form_token, key, waiting) = (&*who.form_token, &seen.standing, seen.waiting);
        let problem = Some("What you typed is not this key. Nothing was revoked.");
        return Ok(Page::again(&RevokePage { form_token, key, waiting, problem }));
    }
    who.ask(move |owner| owner.revoke(&id)).await?;
    Ok(Page::to(format!("/dashboard/keys/{id}")))
}
