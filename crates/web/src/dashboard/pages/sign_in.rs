//! The page to sign in with an account id and its login secret.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::{admit_login, request_source};
use sealpost_domain::{Code, Refusal};
use sealpost_service::Login;

use crate::{
    dashboard::{
        forms::{Form, Rejection},
        response::{Frame, PageResponse},
        session::cookie,
    },
    state::WebState,
};

#[derive(Template)]
#[template(path = "dashboard/sign_in.html")]
struct SignInPage<'a> {
    base: &'a str,
    account_id: &'a str,
    problem: Option<&'a str>,
}

pub(crate) async fn show(app: web::Data<WebState>) -> PageResponse {
    let site = &app.site;
    let main = SignInPage { base: &site.base_path, account_id: "", problem: None };
    PageResponse::ok(Frame::public(site), TITLE, &main)
}

pub(crate) async fn submit(
    app: web::Data<WebState>,
    request: HttpRequest,
    form: Form,
) -> PageResponse {
    let account_id = form.text("account_id").to_owned();
    let site = &app.site;
    let reject = |rejection: Rejection| {
        let problem = Some(&*rejection.text);
        let main = SignInPage { base: &site.base_path, account_id: &account_id, problem };
        PageResponse::rejected(Frame::public(site), TITLE, &rejection, &main)
    };
    let login = Login {
        account_id: account_id.clone(),
        login_secret: form.text("login_secret").to_owned(),
    };
    if let Err(refusal) = login.check() {
        return reject(rejection_of(&refusal));
    }
    if let Err(problem) = admit_login(&app.api, &request) {
        return reject(Rejection::from(&problem));
    }
    match app.api.sealpost.login(login, request_source(&app.api, &request)).await {
        Ok(session) => PageResponse::redirect(site, "/dashboard")
            .with_cookie(&cookie::set(&app, session.session_token)),
        Err(error) => match error.refusal() {
            Some(refusal) => reject(rejection_of(refusal)),
            None => PageResponse::service_error(site, &error),
        },
    }
}

/// Converts the refusal of a login into text for the page. Replaces the API's text for wrong credentials, because that
/// text contains names of JSON fields.
fn rejection_of(refusal: &Refusal) -> Rejection {
    let rejection = Rejection::from(refusal);
    if refusal.code() == Code::Unauthorized {
        let text = "The account or the login secret is wrong.".to_owned();
        return Rejection { text, ..rejection };
    }
    rejection
}

const TITLE: &str = "Sign in";
