//! The page that opens an account together with its first identity.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::{admit_activation, request_source};
use sealpost_service::{Activated, Activation};

use super::activation_of;
use crate::{
    dashboard::{
        forms::{Form, Rejection},
        response::{Frame, PageResponse},
    },
    state::WebState,
};

#[derive(Template)]
#[template(path = "dashboard/open_account.html")]
struct OpenAccountPage<'a> {
    base: &'a str,
    label: &'a str,
    handle: &'a str,
    activation: Activation,
    problem: Option<&'a str>,
}

/// The page that shows the login secret of the new account, only once, because the service cannot show it again.
#[derive(Template)]
#[template(path = "dashboard/account_opened.html")]
struct OpenedPage<'a> {
    base: &'a str,
    opened: &'a Activated,
    login_secret: &'a str,
}

pub(crate) async fn show(app: web::Data<WebState>) -> PageResponse {
    let site = &app.site;
    let base = &*site.base_path;
    let activation = app.api.sealpost.activation();
    let main = OpenAccountPage { base, label: "", handle: "", activation, problem: None };
    PageResponse::ok(Frame::public(site), TITLE, &main)
}

pub(crate) async fn submit(
    app: web::Data<WebState>,
    request: HttpRequest,
    form: Form,
) -> PageResponse {
    let site = &app.site;
    let (frame, base) = (Frame::public(site), &*site.base_path);
    let reject = |rejection: Rejection| {
        let (label, handle) = (form.text("label"), form.text("handle"));
        let activation = app.api.sealpost.activation();
        let problem = Some(&*rejection.text);
        let main = OpenAccountPage { base, label, handle, activation, problem };
        PageResponse::rejected(frame, TITLE, &rejection, &main)
    };
    let input = match activation_of(&form) {
        Ok(input) => input,
        Err(rejection) => return reject(rejection),
    };
    if let Err(problem) = admit_activation(&app.api, &request) {
        return reject(Rejection::from(&problem));
    }
    match app.api.sealpost.activate(None, input, request_source(&app.api, &request)).await {
        Ok(opened) => {
            let login_secret = opened.login_secret.as_deref().unwrap_or_default();
            PageResponse::ok(
                frame,
                "Account opened",
                &OpenedPage { base, opened: &opened, login_secret },
            )
        }
        Err(error) => match error.refusal() {
            Some(refusal) => reject(Rejection::from(refusal)),
            None => PageResponse::service_error(site, &error),
        },
    }
}

const TITLE: &str = "Open an account";
