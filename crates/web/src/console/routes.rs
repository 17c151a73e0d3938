//! The paths of the console, with the handlers of their pages and forms.

use actix_web::{Resource, Route, http::StatusCode, http::header, middleware::from_fn, web};

use super::{
    pages as p,
    response::{ConsoleFrame, error_page, invalid_query},
    state::{ConsoleState, console_state},
};
use crate::{
    assets,
    html::{Rejection, forms::post},
};

/// Mounts the console and its assets. The same server must also mount [`sealpost_api::admin_routes`], which add the
/// state of the API.
pub fn routes(state: web::Data<ConsoleState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        let result_cookie = state.result_cookie();
        config.app_data(state).configure(assets::routes).service(
            web::scope("/console")
                .app_data(result_cookie)
                .app_data(query_config())
                .wrap(from_fn(sealpost_api::middleware))
                .service(form(
                    "/sign-in",
                    web::get().to(p::sign_in::show),
                    post(p::sign_in::submit),
                ))
                .service(at("/sign-out", "POST").route(post(p::sign_in::sign_out)))
                .service(page("", web::get().to(p::keys::show)))
                .service(page("/accounts", web::get().to(p::account::list)))
                .service(form(
                    "/accounts/{account}",
                    web::get().to(p::account::show),
                    post(p::account::submit),
                ))
                .service(page("/service", web::get().to(p::service::show)))
                .service(page("/audit", web::get().to(p::audit::show)))
                .configure(key_routes)
                .default_service(web::to(async |state: web::Data<ConsoleState>| {
                    error_page(
                        ConsoleFrame::public(&state.site),
                        &Rejection::new(StatusCode::NOT_FOUND, "This page does not exist."),
                    )
                })),
        );
    }
}

/// Mounts the tabs of a key and their forms. Each has its own pattern, which is the route in logs and metrics.
fn key_routes(config: &mut web::ServiceConfig) {
    let path = |part: &str| format!("/keys/{{key}}{part}");
    let show = |part| web::get().to(move |user, key| p::key::show(user, key, part));
    for part in p::key::PAGES {
        config.service(page(&path(part), show(part)));
    }
    for part in p::key::FORMS {
        let submit = post(move |act, key| p::key::submit(act, key, part));
        config.service(form(&path(part), show(part), submit));
    }
}

/// Makes [`web::Query`] respond with an error page. Without this configuration, a browser gets a problem document
/// (JSON, RFC 9457).
fn query_config() -> web::QueryConfig {
    web::QueryConfig::default().error_handler(|_error, request| match console_state(request) {
        Ok(state) => invalid_query(ConsoleFrame::public(&state.site)).into(),
        Err(page) => page.into(),
    })
}

fn page(path: &str, show: Route) -> Resource {
    at(path, "GET").route(show)
}

/// Returns the resource of a page with a form that is sent to the same path.
fn form(path: &str, show: Route, submit: Route) -> Resource {
    at(path, "GET, POST").route(show).route(submit)
}

fn at(path: &str, allowed: &'static str) -> Resource {
    let reject = async move |state: web::Data<ConsoleState>| {
        let frame = ConsoleFrame::public(&state.site);
        let text = "This address does not support this kind of request.";
        error_page(frame, &Rejection::new(StatusCode::METHOD_NOT_ALLOWED, text))
            .with(header::ALLOW, allowed.to_owned())
    };
    web::resource(path).default_service(web::to(reject))
}
