//! The page that opens an account together with its first identity.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::{admit_sign_up, request_source};
use sealpost_service::{Activated, Activation, Login};

use super::activation_of;
use crate::{
    dashboard::{
        forms::{Form, Rejection},
        response::{Frame, PageResponse},
        session::cookie,
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

/// The page with the secrets of the new account. The service cannot show them again.
#[derive(Template)]
#[template(path = "dashboard/account_opened.html")]
struct OpenedPage<'a> {
    base: &'a str,
    opened: &'a Activated,
    login_secret: &'a str,
    recovery_code: &'a str,
    base_url: &'a str,
}

impl OpenedPage<'_> {
    /// Formats the credentials of the account as the content of a text file, which the user can download.
    fn credentials_file(&self) -> String {
        let Self { opened, login_secret, recovery_code, base_url, .. } = self;
        format!(
            "Credentials of Sealpost at {base_url}\n\nAccount: {}\nLogin secret: {login_secret}\nRecovery code: \
            {recovery_code}\nAPI key: {}\nDID: {}\n",
            opened.account_id,
            opened.api_key_id,
            opened.did.as_str()
        )
    }
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
    if let Err(problem) = admit_sign_up(&app.api, &request, input.invite.as_deref()).await {
        return reject(Rejection::from(&problem));
    }
    match app.api.sealpost.activate(None, input, request_source(&app.api, &request)).await {
        Ok(opened) => {
            let login_secret = opened.login_secret.as_deref().unwrap_or_default();
            let recovery_code = opened.recovery_code.as_deref().unwrap_or_default();
            let base_url = &*site.base_url;
            let main = OpenedPage { base, opened: &opened, login_secret, recovery_code, base_url };
            let page = PageResponse::ok(frame, "Account opened", &main);
            sign_in(&app, &request, &opened, page).await
        }
        Err(error) => match error.refusal() {
            Some(refusal) => reject(Rejection::from(refusal)),
            None => PageResponse::service_error(site, &error),
        },
    }
}

/// Signs the browser in to the new account. If the login fails, the page still shows the secrets, and the link to the
/// dashboard leads to the sign-in page.
async fn sign_in(
    app: &WebState,
    request: &HttpRequest,
    opened: &Activated,
    page: PageResponse,
) -> PageResponse {
    let Some(login_secret) = opened.login_secret.clone() else { return page };
    let login = Login { account_id: opened.account_id.to_string(), login_secret };
    match app.api.sealpost.login(login, request_source(&app.api, request)).await {
        Ok(session) => page.with_cookie(&cookie::set(app, session.session_token)),
        Err(_) => page,
    }
}

const TITLE: &str = "Open an account";
