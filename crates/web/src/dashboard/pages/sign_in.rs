//! The page to sign in with an account id and its login secret.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::{Problem, log_in};
use sealpost_domain::Code;
use sealpost_service::Login;
use serde::Deserialize;

use crate::{
    dashboard::response::Frame,
    html::{
        Flash, Notice, PageResponse, Rejection,
        forms::{Draft, Form},
    },
    state::WebState,
};

#[derive(Template)]
#[template(path = "dashboard/sign_in.html")]
struct SignInPage<'a> {
    base: &'a str,
    next: &'a str,
    draft: Draft<'a>,
}

/// The query string of the page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct SignInQuery {
    /// The page to return to after the sign-in.
    next: String,
    /// Not empty if the session had ended before a form was sent.
    ended: String,
}

pub(crate) async fn show(
    app: web::Data<WebState>,
    query: web::Query<SignInQuery>,
    result: Flash,
) -> PageResponse {
    let ended = Notice { text: SESSION_ENDED, is_failure: true };
    let notice = if query.ended.is_empty() { result.shown() } else { ended };
    let frame = Frame { notice, ..Frame::public(&app.site) };
    page(frame, next_of(&query.next), Draft::default())
}

pub(crate) async fn submit(
    app: web::Data<WebState>,
    request: HttpRequest,
    form: Form,
) -> PageResponse {
    let next = next_of(form.text("next"));
    let login = Login {
        account_id: form.text("account_id").to_owned(),
        login_secret: form.text("login_secret").to_owned(),
        on_dashboard: true,
    };
    match log_in(&app.api, &request, login).await {
        Ok(session) => PageResponse::redirect(&app.site, next)
            .with_cookie(&app.session_cookie().with_value(session.session_token)),
        Err(Problem::Service { error, .. }) if error.refusal().is_none() => {
            PageResponse::service_error(Frame::public(&app.site), &error)
        }
        Err(problem) => {
            let rejection = rejection_of(&problem);
            page(Frame::public(&app.site), next, Draft::rejected(&form, &rejection))
        }
    }
}

fn page(frame: Frame<'_>, next: &str, draft: Draft<'_>) -> PageResponse {
    let main = SignInPage { base: &frame.site.base_path, next, draft };
    PageResponse::for_form(frame, "Sign in", draft, &main)
}

/// Returns the path to open after the sign-in: `next` if it is the path of a dashboard page, otherwise the first page.
/// So a link to the sign-in page cannot lead to another site.
fn next_of(next: &str) -> &str {
    let rest = next.strip_prefix("/dashboard");
    let is_page = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    // A GET request for these addresses fails, because the addresses only receive forms.
    let is_form = next == "/dashboard/sign-out"
        || (next.starts_with("/dashboard/tokens/") && next.ends_with("/revoke"));
    if is_page && is_plain && !is_form && !next.contains("//") { next } else { "/dashboard" }
}

/// Converts the error of a login into text for the page. Replaces the API's text for wrong credentials, because that
/// text contains names of JSON fields.
fn rejection_of(problem: &Problem) -> Rejection {
    let rejection = Rejection::from(problem);
    if problem.code() == Code::Unauthorized {
        let text = "The account or the login secret is wrong.".to_owned();
        return Rejection { text, ..rejection }.at("login_secret");
    }
    rejection
}

const SESSION_ENDED: &str = "Your session has ended. Nothing was done: sign in and repeat it.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_dashboard_are_opened_after_the_sign_in() {
        for page in [
            "/dashboard",
            "/dashboard/keys/ak_1/events?state=failed",
            "/dashboard/keys/ak_1/revoke",
            "/dashboard?x",
        ] {
            assert_eq!(next_of(page), page);
        }
        for other in [
            "",
            "/docs",
            "//evil.example",
            "https://evil.example/dashboard",
            "/dashboardx",
            "/dashboard//evil.example",
            "/dashboard/\\evil.example",
            "/dashboard\r\nx: y",
            "/dashboard/sign-out",
            "/dashboard/tokens/tok_1/revoke",
        ] {
            assert_eq!(next_of(other), "/dashboard", "{other}");
        }
    }
}
