//! A first identity, and with it an account.

use std::sync::Arc;

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_service::Activated;

use super::activation_of;
use crate::{
    dashboard::{form::Form, page::Page},
    http::{App, throttle},
};

#[derive(Template)]
#[template(path = "dashboard/open_account.html")]
struct OpenAccountPage<'a> {
    label: &'a str,
    handle: &'a str,
    problem: Option<String>,
}

/// Shown once, since the secret cannot be shown again.
#[derive(Template)]
#[template(path = "dashboard/account_opened.html")]
struct OpenedPage<'a> {
    opened: &'a Activated,
    login_secret: &'a str,
}

pub(crate) async fn show() -> Page {
    Page::show(&OpenAccountPage { label: "", handle: "", problem: None })
}

pub(crate) async fn submit(app: web::Data<App>, request: HttpRequest, form: Form) -> Page {
    let again = |problem: String| {
        let (label, handle) = (form.text("label"), form.text("handle"));
        Page::again(&OpenAccountPage { label, handle, problem: Some(problem) })
    };
    let asked = match activation_of(&form) {
        Ok(asked) => asked,
        Err(problem) => return again(problem),
    };
    if let Err(problem) = throttle::admit_activation(&app, &request) {
        return again(problem.to_string());
    }
    let sealpost = Arc::clone(&app.sealpost);
    match web::block(move || sealpost.activate(None, Ok(asked))).await {
        Ok(Ok(opened)) => {
            let login_secret = opened.login_secret.as_deref().unwrap_or_default();
            Page::show(&OpenedPage { opened: &opened, login_secret })
        }
        Ok(Err(error)) => match error.refusal() {
            Some(refusal) => again(refusal.to_string()),
            None => Page::of(&error),
        },
        Err(_) => Page::broken(),
    }
}
