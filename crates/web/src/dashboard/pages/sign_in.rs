//! The page to sign in with an account id and its login secret.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::{Problem, log_in};
use sealpost_domain::Code;
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
    match log_in(&app.api, &request, login).await {
        Ok(session) => PageResponse::redirect(site, "/dashboard")
            .with_cookie(&cookie::set(&app, session.session_token)),
        Err(Problem::Service { error, .. }) if error.refusal().is_none() => {
            PageResponse::service_error(site, &error)
        }
        Err(problem) => reject(rejection_of(&problem)),
    }
}

/// Converts the error of a login into text for the page. Replaces the API's text for wrong credentials, because that
/// text contains names of JSON fields.
fn rejection_of(problem: &Problem) -> Rejection {
    let rejection = Rejection::from(problem);
    if problem.code() == Code::Unauthorized {
        let text = "The account or the login secret is wrong.".to_owned();
        return Rejection { text, ..rejection };
    }
    rejection
}

const TITLE: &str = "Sign in";
