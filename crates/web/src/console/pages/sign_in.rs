//! The page to sign in with the name and the password of an operator.

use actix_web::{HttpRequest, http::StatusCode, web};
use askama::Template;
use sealpost_domain::Code;

use crate::{
    console::{
        cookie,
        form::{OpenForm, SessionForm},
        response::ConsoleFrame,
        state::ConsoleState,
        user::redirect_to_sign_in,
    },
    dashboard::{
        forms::{Draft, Rejection},
        response::PageResponse,
    },
};

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct SignInPage<'a> {
    base: &'a str,
    draft: Draft<'a>,
}

pub(crate) async fn show(state: web::Data<ConsoleState>) -> PageResponse {
    page(&state, StatusCode::OK, Draft::default())
}

pub(crate) async fn submit(request: HttpRequest, open: OpenForm) -> PageResponse {
    let OpenForm { state, form } = open;
    match state.admin.sign_in(&request, form.text("name"), form.raw("password")).await {
        Ok(session) => PageResponse::redirect(&state.site, "/console")
            .with_cookie(&cookie::session(&state).with_value(session.token)),
        Err(problem) => {
            let mut rejection = Rejection::from(&problem);
            if problem.code() == Code::Unauthorized {
                "The name or the password is wrong.".clone_into(&mut rejection.text);
            }
            let rejection = rejection.at("password");
            let draft = Draft::rejected(&form, &rejection);
            page(&state, rejection.status, draft).with_headers_of(&rejection)
        }
    }
}

pub(crate) async fn sign_out(session: SessionForm) -> PageResponse {
    let user = session.user;
    user.state.admin.access.end_session(&user.token);
    redirect_to_sign_in(&user.state)
}

fn page(state: &ConsoleState, status: StatusCode, draft: Draft<'_>) -> PageResponse {
    let frame = ConsoleFrame::public(&state.site);
    let main = SignInPage { base: &state.site.base_path, draft };
    frame.respond(status, "Sign in", &main)
}
