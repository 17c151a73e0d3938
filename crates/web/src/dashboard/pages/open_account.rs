//! The page that opens an account together with its first identity.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::{admit_sign_up, request_source};
use sealpost_service::{Activated, Activation, Login};

use super::activation_of;
use crate::{
    dashboard::{forms::SingleUse, response::Frame},
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Draft, Form},
    },
    state::WebState,
};

#[derive(Template)]
#[template(path = "dashboard/open_account.html")]
struct OpenAccountPage<'a> {
    base: &'a str,
    activation: Activation,
    draft: Draft<'a>,
}

/// The page that shows the secrets of the new account once.
#[derive(Template)]
#[template(path = "dashboard/account_opened.html")]
struct OpenedPage<'a> {
    base: &'a str,
    base_url: &'a str,
    result: &'a Flash,
}

impl OpenedPage<'_> {
    /// Formats the credentials of the account as the content of a text file, which the user can download.
    fn credentials_file(&self) -> String {
        let credentials = CREDENTIALS.iter().filter_map(|(name, text)| {
            let value = self.result.value(name)?;
            Some(format!("{text}: {value}\n"))
        });
        let credentials: String = credentials.collect();
        format!("Credentials of Sealpost at {}\n\n{credentials}", self.base_url)
    }
}

pub(crate) async fn show(app: web::Data<WebState>) -> PageResponse {
    page(&app, Draft::default())
}

pub(crate) async fn submit(
    app: web::Data<WebState>,
    request: HttpRequest,
    form: Form,
) -> PageResult {
    let reject = |rejection: Rejection| Ok(page(&app, Draft::rejected(&form, &rejection)));
    let input = match activation_of(&form) {
        Ok(input) => input,
        Err(rejection) => return reject(rejection),
    };
    if let Err(problem) = admit_sign_up(&app.api, &request, input.invite.as_deref()).await {
        return reject(Rejection::from(&problem));
    }
    let single_use = SingleUse::begin(&app, Frame::public(&app.site), &form).await?;
    match app.api.sealpost.accounts.activate(None, input, request_source(&app.api, &request)).await
    {
        Ok(opened) => {
            let page = single_use.done(result_of(&opened)).await;
            Ok(sign_in(&app, &request, &opened, page).await)
        }
        Err(error) => match error.refusal() {
            Some(refusal) => {
                single_use.release().await?;
                reject(Rejection::from(refusal))
            }
            None => Err(PageResponse::service_error(Frame::public(&app.site), &error)),
        },
    }
}

/// Shows the secrets of the new account once. Needs no session, so that the secrets are also shown if the sign-in after
/// the activation failed.
pub(crate) async fn show_opened(app: web::Data<WebState>, result: Flash) -> PageResponse {
    let site = &app.site;
    let main = OpenedPage { base: &site.base_path, base_url: &site.base_url, result: &result };
    let frame = Frame { notice: result.shown(), ..Frame::public(site) };
    PageResponse::ok(frame, "Account opened", &main)
}

fn result_of(opened: &Activated) -> Flash {
    let result = Flash::notice("/dashboard/account/opened", "")
        .show_once("account_id", opened.account_id.to_string())
        .show_once("login_secret", opened.login_secret.as_deref().unwrap_or_default())
        .show_once("recovery_code", opened.recovery_code.as_deref().unwrap_or_default())
        .show_once("api_key_id", opened.api_key_id.to_string())
        .show_once("label", opened.label.to_string())
        .show_once("did", opened.did.as_str());
    match &opened.handle {
        Some(handle) => result.show_once("handle", format!("@{handle}")),
        None => result,
    }
}

/// Signs the browser in to the new account. If the login fails, the next page still shows the secrets, and its link to
/// the dashboard leads to the sign-in page.
async fn sign_in(
    app: &WebState,
    request: &HttpRequest,
    opened: &Activated,
    page: PageResponse,
) -> PageResponse {
    let Some(login_secret) = opened.login_secret.clone() else { return page };
    let login =
        Login { account_id: opened.account_id.to_string(), login_secret, on_dashboard: true };
    match app.api.sealpost.accounts.login(login, request_source(&app.api, request)).await {
        Ok(session) => page.with_cookie(&app.session_cookie().with_value(session.session_token)),
        Err(_) => page,
    }
}

fn page(app: &WebState, draft: Draft<'_>) -> PageResponse {
    let activation = app.api.sealpost.activation();
    let main = OpenAccountPage { base: &app.site.base_path, activation, draft };
    PageResponse::for_form(Frame::public(&app.site), "Open an account", draft, &main)
}

/// The values on the page and in the file, with their names for people.
const CREDENTIALS: [(&str, &str); 7] = [
    ("account_id", "Account"),
    ("login_secret", "Login secret"),
    ("recovery_code", "Recovery code"),
    ("api_key_id", "API key"),
    ("label", "Label"),
    ("handle", "Handle"),
    ("did", "DID"),
];
