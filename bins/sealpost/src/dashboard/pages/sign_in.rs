//! Signing in, with account and login secret.

use std::sync::Arc;

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_service::Login;

use crate::{
    dashboard::{cookie, form::Form, page::Page},
    http::{App, throttle},
};

#[derive(Template)]
#[template(path = "dashboard/sign_in.html")]
struct SignInPage<'a> {
    account_id: &'a str,
    problem: Option<String>,
}

pub(crate) async fn show() -> Page {
    Page::show(&SignInPage { account_id: "", problem: None })
}

pub(crate) async fn submit(app: web::Data<App>, request: HttpRequest, form: Form) -> Page {
    let account_id = form.text("account_id").to_owned();
    if let Err(problem) = throttle::admit_login(&app, &request) {
        let problem = Some(problem.to_string());
        return Page::again(&SignInPage { account_id: &account_id, problem });
    }
    let login = Login {
        account_id: account_id.clone(),
        login_secret: form.text("login_secret").to_owned(),
    };
    let sealpost = Arc::clone(&app.sealpost);
    match web::block(move || sealpost.login(&login)).await {
        Ok(Ok(session)) => {
            Page::to("/dashboard").with_cookie(&cookie::begin(&app, session.session_token))
        }
        Ok(Err(error)) if error.refusal().is_some() => {
            let problem = error.refusal().map(ToString::to_string);
            Page::again(&SignInPage { account_id: &account_id, problem })
        }
        Ok(Err(error)) => Page::of(&error),
        Err(_) => Page::broken(),
    }
}
