//! Revoking an identity: final, so that the key must be typed.

use actix_web::web;
use askama::Template;
use sealpost_domain::KeyStatus;
use sealpost_service::{KeyPage, KeyStanding, PendingCount};

use super::{key::look, key_of};
use crate::dashboard::{form::Form, page::Page, refused::Refused, signed_in::SignedIn};

#[derive(Template)]
#[template(path = "dashboard/revoke.html")]
struct RevokePage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a KeyStanding,
    waiting: PendingCount,
    problem: Option<&'a str>,
}

pub(crate) async fn show(who: SignedIn, key: web::Path<String>) -> Result<Page, Page> {
    let seen = look(&who, &key).await?.page;
    if seen.standing.status == KeyStatus::Revoked {
        let key = format!("/dashboard/keys/{}", seen.standing.api_key_id);
        return Ok(Page::to(who.place(), &key));
    }
    Ok(Page::show(who.frame(), &title(&seen), &page(&who, &seen, None)))
}

pub(crate) async fn submit(
    who: SignedIn,
    key: web::Path<String>,
    form: Form,
) -> Result<Page, Page> {
    who.check(&form)?;
    let id = key_of(&who, &key)?;
    if form.text("typed") != id.to_string() {
        let seen = look(&who, &key).await?.page;
        let refused = Refused::field("What you typed is not this key. Nothing was revoked.");
        let main = page(&who, &seen, Some(&refused.text));
        return Ok(Page::again(who.frame(), &title(&seen), &refused, &main));
    }
    who.ask(async |owner| owner.revoke(&id).await).await?;
    Ok(Page::to(who.place(), &format!("/dashboard/keys/{id}")))
}

fn page<'a>(who: &'a SignedIn, seen: &'a KeyPage, problem: Option<&'a str>) -> RevokePage<'a> {
    let (base, form_token) = (who.base(), &*who.form_token);
    RevokePage { base, form_token, key: &seen.standing, waiting: seen.waiting, problem }
}

fn title(seen: &KeyPage) -> String {
    format!("Revoke {}", seen.standing.label)
}
