//! A first identity, and with it an account.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::admit_activation;
use sealpost_service::Activated;

use super::activation_of;
use crate::{
    dashboard::{form::Form, frame::Frame, page::Page, refused::Refused},
    state::WebState,
};

#[derive(Template)]
#[template(path = "dashboard/open_account.html")]
struct OpenAccountPage<'a> {
    base: &'a str,
    label: &'a str,
    handle: &'a str,
    problem: Option<&'a str>,
}

/// Shown once, since the secret cannot be shown again.
#[derive(Template)]
#[template(path = "dashboard/account_opened.html")]
struct OpenedPage<'a> {
    base: &'a str,
    opened: &'a Activated,
    login_secret: &'a str,
}

pub(crate) async fn show(app: web::Data<WebState>) -> Page {
    let place = app.docs.place();
    let main = OpenAccountPage { base: &place.base_path, label: "", handle: "", problem: None };
    Page::show(Frame::public(place), TITLE, &main)
}

pub(crate) async fn submit(app: web::Data<WebState>, request: HttpRequest, form: Form) -> Page {
    let place = app.docs.place();
    let (frame, base) = (Frame::public(place), &*place.base_path);
    let again = |refused: Refused| {
        let (label, handle) = (form.text("label"), form.text("handle"));
        let main = OpenAccountPage { base, label, handle, problem: Some(&refused.text) };
        Page::again(frame, TITLE, &refused, &main)
    };
    let asked = match activation_of(&form) {
        Ok(asked) => asked,
        Err(refused) => return again(refused),
    };
    if let Err(problem) = admit_activation(&app.api, &request) {
        return again(Refused::from(&problem));
    }
    match app.api.sealpost.activate(None, asked).await {
        Ok(opened) => {
            let login_secret = opened.login_secret.as_deref().unwrap_or_default();
            Page::show(frame, "Account opened", &OpenedPage { base, opened: &opened, login_secret })
        }
        Err(error) => match error.refusal() {
            Some(refusal) => again(Refused::from(refusal)),
            None => Page::of(place, &error),
        },
    }
}

const TITLE: &str = "Open an account";
