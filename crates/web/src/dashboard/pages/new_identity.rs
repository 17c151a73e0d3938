//! One more identity of the account.

use actix_web::HttpRequest;
use askama::Template;
use sealpost_api::admit_activation;
use sealpost_service::Owner;

use super::activation_of;
use crate::dashboard::{form::Form, page::Page, refused::Refused, signed_in::SignedIn};

#[derive(Template)]
#[template(path = "dashboard/new_key.html")]
struct NewKeyPage<'a> {
    base: &'a str,
    form_token: &'a str,
    label: &'a str,
    handle: &'a str,
    problem: Option<&'a str>,
}

pub(crate) async fn show(who: SignedIn) -> Page {
    let (base, form_token) = (who.base(), &*who.form_token);
    let main = NewKeyPage { base, form_token, label: "", handle: "", problem: None };
    Page::show(who.frame(), TITLE, &main)
}

pub(crate) async fn submit(who: SignedIn, request: HttpRequest, form: Form) -> Result<Page, Page> {
    who.check(&form)?;
    let again = |refused: Refused| {
        let main = NewKeyPage {
            base: who.base(),
            form_token: &who.form_token,
            label: form.text("label"),
            handle: form.text("handle"),
            problem: Some(&refused.text),
        };
        Ok(Page::again(who.frame(), TITLE, &refused, &main))
    };
    let asked = match activation_of(&form) {
        Ok(asked) => asked,
        Err(refused) => return again(refused),
    };
    if let Err(problem) = admit_activation(&who.app.api, &request) {
        return again(Refused::from(&problem));
    }
    let sealpost = &who.app.api.sealpost;
    let activate =
        async move |owner: &Owner<'_>| Ok(sealpost.activate(Some(owner.session()), asked).await);
    let made = who.ask(activate).await?;
    match made {
        Ok(key) => Ok(Page::to(who.place(), &format!("/dashboard/keys/{}", key.api_key_id))),
        Err(error) => match error.refusal() {
            Some(refusal) => again(Refused::from(refusal)),
            None => Err(Page::of(who.place(), &error)),
        },
    }
}

const TITLE: &str = "New identity";
