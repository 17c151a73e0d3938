//! The page to sign in with the name and the password of an operator.

use actix_web::{HttpRequest, http::StatusCode, web};
use askama::Template;
use sealpost_domain::Code;
use serde::Deserialize;

use crate::{
    console::{
        form::{OpenForm, SessionForm},
        response::ConsoleFrame,
        state::ConsoleState,
    },
    html::{Notice, PageResponse, Rejection, forms::Draft},
};

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct SignInPage<'a> {
    base: &'a str,
    draft: Draft<'a>,
}

/// The query string of the page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct SignInQuery {
    /// `1` if the session had ended when a form was sent. The page then shows that nothing was done.
    ended: String,
}

pub(crate) async fn show(
    state: web::Data<ConsoleState>,
    query: web::Query<SignInQuery>,
) -> PageResponse {
    let text = if query.ended == "1" { ENDED } else { "" };
    page(&state, StatusCode::OK, Draft::default(), Notice { text, is_failure: true })
}

pub(crate) async fn submit(request: HttpRequest, open: OpenForm) -> PageResponse {
    let OpenForm { state, form } = open;
    match state.admin.sign_in(&request, form.text("name"), form.raw("password")).await {
        Ok(session) => PageResponse::redirect(&state.site, "/console")
            .with_cookie(&state.session_cookie().with_value(session.token)),
        Err(problem) => {
            let mut rejection = Rejection::from(&problem);
            if problem.code() == Code::Unauthorized {
                "The name or the password is wrong.".clone_into(&mut rejection.text);
            }
            let rejection = rejection.at("password");
            let draft = Draft::rejected(&form, &rejection);
            page(&state, rejection.status, draft, Notice::default()).with_headers_of(&rejection)
        }
    }
}

pub(crate) async fn sign_out(session: SessionForm) -> PageResponse {
    let user = session.user;
    user.state.admin.access.end_session(&user.token);
    PageResponse::redirect(&user.state.site, "/console/sign-in")
        .with_cookie(&user.state.session_cookie().deletion())
}

fn page(
    state: &ConsoleState,
    status: StatusCode,
    draft: Draft<'_>,
    notice: Notice<'_>,
) -> PageResponse {
    let frame = ConsoleFrame { notice, ..ConsoleFrame::public(&state.site) };
    let main = SignInPage { base: &state.site.base_path, draft };
    frame.respond(status, "Sign in", &main)
}

const ENDED: &str = "Your session has ended. Nothing was done: sign in and repeat it.";
