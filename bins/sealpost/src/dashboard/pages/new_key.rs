//! One more identity of the account.

use actix_web::HttpRequest;
use askama::Template;

use super::activation_of;
use crate::{
    dashboard::{form::Form, page::Page, signed_in::SignedIn},
    http::throttle,
};

#[derive(Template)]
#[template(path = "dashboard/new_key.html")]
struct NewKeyPage<'a> {
    form_token: &'a str,
    label: &'a str,
    handle: &'a str,
    problem: Option<String>,
}

pub(crate) async fn show(who: SignedIn) -> Page {
    let form_token = &who.form_token;
    Page::show(&NewKeyPage { form_token, label: "", handle: "", problem: None })
}

pub(crate) async fn submit(who: SignedIn, request: HttpRequest, form: Form) -> Result<Page, Page> {
    who.check(&form)?;
    let again = |problem| {
        let (form_token, label, handle) =
            (&*who.form_token, form.text("label"), form.text("handle"));
        Ok(Page::again(&NewKeyPage { form_token, label, handle, problem: Some(problem) }))
    };
    let asked = match activation_of(&form) {
        Ok(asked) => asked,
        Err(problem) => return again(problem),
    };
    if let Err(problem) = throttle::admit_activation(&who.app, &request) {
        return again(problem.to_string());
    }
    let token = who.token.clone();
    let made =
        who.ask_service(move |sealpost| Ok(sealpost.activate(Some(&token), Ok(asked)))).await?;
    match made {
        Ok(key) => Ok(Page::to(format!("/dashboard/keys/{}", key.api_key_id))),
        Err(error) => match error.refusal() {
            Some(refusal) => again(refusal.to_string()),
            None => Err(Page::of(&error)),
        },
    }
}
