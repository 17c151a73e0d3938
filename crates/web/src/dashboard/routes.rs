//! The paths of the dashboard, with the handlers of their pages and forms.

use actix_web::{FromRequest, Handler, Resource, Responder, Route, guard, web};

use super::{
    pages as p,
    response::{Frame, web_state},
    session::SignedInUser,
};
use crate::{
    html::{PageResponse, forms::post},
    state::WebState,
};

/// Mounts all pages and forms of the dashboard.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .service(form("/sign-in", p::sign_in::show, post(p::sign_in::submit)))
        .service(form("/open-account", p::open_account::show, post(p::open_account::submit)))
        .service(form("/recover", p::recover::show, post(p::recover::submit)))
        .service(page("/recovered", p::recover::show_recovered))
        .service(at("/sign-out", "POST").route(web::post().to(p::account::sign_out)))
        .service(page("", p::overview::show))
        .service(page("/account", p::account::show))
        .service(page("/activity", p::activity::show))
        .service(form(
            "/account/close",
            p::close_account::show,
            web::post().to(p::close_account::submit),
        ))
        .service(form("/account/export", p::export::show, post(p::export::submit)))
        .service(page("/account/opened", p::open_account::show_opened))
        .service(form(
            "/account/sessions",
            p::account::ask_sessions,
            web::post().to(p::account::end_session),
        ))
        .service(form(
            "/account/secret",
            p::account::ask_secrets,
            web::post().to(p::account::replace_secrets),
        ))
        .service(page("/account/secrets", p::account::show_secrets))
        .service(form("/tokens", p::tokens::show, post(p::tokens::create)))
        .service(page("/tokens/{token}", p::tokens::show_token))
        .service(at("/tokens/{token}/revoke", "POST").route(web::post().to(p::tokens::revoke)))
        .service(page("/sent", p::sent::show))
        .service(form("/events", p::events::show, post(p::events::redeliver)))
        .service(page("/events/live", p::live_events::follow))
        .service(page("/webhooks", p::webhooks::show_all))
        .configure(key_routes)
        .service(
            web::resource("/dashboard/{rest}*")
                .guard(guard::Any(guard::Get()).or(guard::Post()))
                .default_service(web::to(not_found)),
        );
}

/// Mounts the pages and forms of identities, with their webhooks and events.
fn key_routes(config: &mut web::ServiceConfig) {
    config
        .service(form("/keys", p::identities::show, post(p::new_identity::submit)))
        .service(page("/keys/new", p::new_identity::show))
        .service(page("/keys/{key}", p::identity::show))
        .service(form("/keys/{key}/revoke", p::revoke::show, web::post().to(p::revoke::submit)))
        .service(form("/keys/{key}/senders", p::senders::show, post(p::senders::submit)))
        .service(form("/keys/{key}/events", p::events::show, post(p::events::redeliver)))
        .service(page("/keys/{key}/events/live", p::live_events::follow))
        .service(form("/keys/{key}/events/{event}", p::event::show, post(p::event::act)))
        .service(page("/keys/{key}/sent", p::sent::show))
        .service(page("/keys/{key}/sent/{envelope}", p::sent::show_receipt))
        .service(form("/keys/{key}/webhooks", p::webhooks::show, post(p::webhooks::register)))
        .service(form("/keys/{key}/webhooks/{webhook}", p::webhook::show, post(p::webhook::act)))
        .service(form(
            "/keys/{key}/webhooks/{webhook}/change",
            p::change_webhook::show,
            post(p::change_webhook::submit),
        ))
        .service(page("/keys/{key}/webhooks/{webhook}/secret", p::webhook::show_secret));
}

async fn not_found(app: web::Data<WebState>, user: Option<SignedInUser>) -> PageResponse {
    let public = || Frame::public(&app.site);
    PageResponse::not_found(user.as_ref().map_or_else(public, SignedInUser::frame))
}

/// Returns the resource of a page below `/dashboard`.
fn page<H, Args>(path: &str, show: H) -> Resource
where
    H: Handler<Args>,
    H::Output: Responder + 'static,
    Args: FromRequest + 'static,
{
    at(path, "GET").route(web::get().to(show))
}

/// Returns the resource of a page below `/dashboard` with a form that is sent to the same path.
fn form<H, Args>(path: &str, show: H, submit: Route) -> Resource
where
    H: Handler<Args>,
    H::Output: Responder + 'static,
    Args: FromRequest + 'static,
{
    at(path, "GET, POST").route(web::get().to(show)).route(submit)
}

fn at(path: &str, allowed: &'static str) -> Resource {
    let path = format!("/dashboard{path}");
    let reject = async move |app: web::Data<WebState>| {
        PageResponse::method_not_allowed(Frame::public(&app.site), allowed)
    };
    web::resource(path).app_data(query_config()).default_service(web::to(reject))
}

/// Makes [`web::Query`] respond with an error page. Without this configuration, a browser gets a problem document
/// (JSON, RFC 9457).
fn query_config() -> web::QueryConfig {
    web::QueryConfig::default().error_handler(|_error, request| match web_state(request) {
        Ok(app) => PageResponse::invalid_query(Frame::public(&app.site)).into(),
        Err(page) => page.into(),
    })
}
