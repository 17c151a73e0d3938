//! Signing in, with account and login secret.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::admit_login;
use sealpost_service::Login;

use crate::{
    dashboard::{cookie, form::Form, frame::Frame, page::Page, refused::Refused},
    state::WebState,
};

#[derive(Template)]
#[template(path = "dashboard/sign_in.html")]
struct SignInPage<'a> {
    base: &'a str,
    account_id: &'a str,
    problem: Option<&'a str>,
}

pub(crate) async fn show(app: web::Data<WebState>) -> Page {
    let place = app.docs.place();
    let main = SignInPage { base: &place.base_path, account_id: "", problem: None };
    Page::show(Frame::public(place), TITLE, &main)
}

pub(crate) async fn submit(app: web::Data<WebState>, request: HttpRequest, form: Form) -> Page {
    let account_id = form.text("account_id").to_owned();
    let place = app.docs.place();
    let again = |refused: Refused| {
        let problem = Some(&*refused.text);
        let main = SignInPage { base: &place.base_path, account_id: &account_id, problem };
        Page::again(Frame::public(place), TITLE, &refused, &main)
    };
    if let Err(problem) = admit_login(&app.api, &request) {
        return again(Refused::from(&problem));
    }
    let login = Login {
        account_id: account_id.clone(),
        login_secret: form.text("login_secret").to_owned(),
    };
    match app.api.sealpost.login(login).await {
        Ok(session) => {
            Page::to(place, "/dashboard").with_cookie(&cookie::begin(&app, session.session_token))
        }
        Err(error) => match error.refusal() {
            Some(refusal) => again(Refused::from(refusal)),
            None => Page::of(place, &error),
        },
    }
}

const TITLE: &str = "Sign in";
