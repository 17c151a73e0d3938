//! The paths of the console, with the handlers of their pages and forms.

use std::future::ready;

use actix_web::{Resource, Route, http::StatusCode, http::header, middleware::from_fn, web};

use super::{
    pages::{
        self as p,
        key::{
            KeyTab as T,
            acts::{self, act},
        },
    },
    response::{ConsoleFrame, error_page, invalid_query},
    state::{ConsoleState, console_state},
    user::ConsoleUser,
};
use crate::{
    assets,
    dashboard::{forms::Rejection, post},
};

/// Mounts the console and its assets. The same server must also mount [`sealpost_api::admin_routes`], which add the
/// state of the API.
pub fn routes(state: web::Data<ConsoleState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state).configure(assets::routes).service(
            web::scope("/console")
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

/// Mounts the pages of a key and their forms.
fn key_routes(config: &mut web::ServiceConfig) {
    let show = |tab: T| web::get().to(move |user, key| p::key::show(user, key, tab));
    let to = |tab: T| {
        web::get().to(move |user: ConsoleUser, key: web::Path<String>| {
            ready(p::key::to_tab(&user, &key, tab))
        })
    };
    config
        .service(page("/keys/{key}", show(T::Overview)))
        .service(page("/keys/{key}/webhooks", show(T::Webhooks)))
        .service(page("/keys/{key}/evidence", show(T::Evidence)))
        .service(form("/keys/{key}/state", show(T::State), act(T::State, acts::change_state)))
        .service(form("/keys/{key}/plan", show(T::Plan), act(T::Plan, acts::set_plan)))
        .service(form(
            "/keys/{key}/governance",
            show(T::Governance),
            act(T::Governance, acts::decide),
        ))
        .service(form("/keys/{key}/assess", to(T::Evidence), act(T::Evidence, acts::assess)))
        .service(form("/keys/{key}/attest", to(T::Evidence), act(T::Evidence, acts::attest)))
        .service(form("/keys/{key}/badge", to(T::Evidence), act(T::Evidence, acts::revoke_badge)))
        .service(form(
            "/keys/{key}/webhook",
            to(T::Webhooks),
            act(T::Webhooks, acts::disable_webhook),
        ));
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
