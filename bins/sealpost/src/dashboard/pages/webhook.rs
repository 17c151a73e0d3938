//! One registration: whether it takes what it is sent, and what can be done about it.

use actix_web::web;
use askama::Template;
use sealpost_domain::EventKind;
use sealpost_service::{Register, Registered};

use super::{key, key_of};
use crate::dashboard::{form::Form, page::Page, signed_in::SignedIn};

/// Shown once, since the secret cannot be shown again.
#[derive(Template)]
#[template(path = "dashboard/webhook_secret.html")]
struct SecretPage<'a> {
    form_token: &'a str,
    key: &'a str,
    url: &'a str,
    secret: &'a str,
}

/// Registers a webhook of the key.
pub(crate) async fn register(
    who: SignedIn,
    path: web::Path<String>,
    form: Form,
) -> Result<Page, Page> {
    who.check(&form)?;
    let id = key_of(&path)?;
    let url = form.text("url").to_owned();
    let asked = Register { url: url.clone(), events: vec![EventKind::EnvelopeReceived] };
    match who.ask(move |owner| Ok(owner.register(&id, asked))).await? {
        Ok(Registered { url, secret, .. }) => {
            let (url, secret) = (&*url, &*secret);
            let form_token = &*who.form_token;
            Ok(Page::show(&SecretPage { form_token, key: &path, url, secret }))
        }
        Err(error) => match error.refusal() {
            Some(refusal) => key::show_again(&who, &path, &url, &refusal.to_string()).await,
            None => Err(Page::of(&error)),
        },
    }
}

pub(crate) async fn show(_who: SignedIn) -> Result<Page, Page> {
    Err(Page::not_found())
}

pub(crate) async fn act(_who: SignedIn) -> Result<Page, Page> {
    Err(Page::not_found())
}
