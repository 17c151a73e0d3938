//! The paths of the console, with the handlers of their pages and forms.

use std::future::ready;

use actix_web::{Resource, http::StatusCode, http::header, middleware::from_fn, web};

use super::{
    pages::{self as p, key::KeyTab},
    response::{ConsoleFrame, error_page, invalid_query, rejection},
    state::{ConsoleState, console_state},
    user::ConsoleUser,
};
use crate::{assets, dashboard::post};

/// Mounts the console and its assets. The same server must also mount [`sealpost_api::admin_routes`], because these
/// routes add the state of the API.
pub fn routes(state: web::Data<ConsoleState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state).configure(assets::routes).service(
            web::scope("/console")
                .app_data(query_config())
                .wrap(from_fn(sealpost_api::middleware))
                .service(
                    at("/sign-in", "GET, POST")
                        .route(web::get().to(p::sign_in::show))
                        .route(post(p::sign_in::submit)),
                )
                .service(at("/sign-out", "POST").route(post(p::sign_in::sign_out)))
                .service(at("", "GET").route(web::get().to(p::keys::show)))
                .service(at("/accounts", "GET").route(web::get().to(p::account::list)))
                .service(
                    at("/accounts/{account}", "GET, POST")
                        .route(web::get().to(p::account::show))
                        .route(post(p::account::submit)),
                )
                .service(at("/service", "GET").route(web::get().to(p::service::show)))
                .service(at("/audit", "GET").route(web::get().to(p::audit::show)))
                .configure(key_routes)
                .default_service(web::to(async |state: web::Data<ConsoleState>| {
                    error_page(
                        ConsoleFrame::public(&state.site),
                        &rejection(StatusCode::NOT_FOUND, "This page does not exist."),
                    )
                })),
        );
    }
}

/// Mounts the pages of a key and their forms.
fn key_routes(config: &mut web::ServiceConfig) {
    let page = |path| at(path, "GET, POST");
    let show = |tab: KeyTab| web::get().to(move |user, key| p::key::show(user, key, tab));
    let to = |tab: KeyTab| {
        web::get().to(move |user: ConsoleUser, key: web::Path<String>| {
            ready(p::key::to_tab(&user, &key, tab))
        })
    };
    config
        .service(at("/keys/{key}", "GET").route(show(KeyTab::Overview)))
        .service(at("/keys/{key}/webhooks", "GET").route(show(KeyTab::Webhooks)))
        .service(at("/keys/{key}/evidence", "GET").route(show(KeyTab::Evidence)))
        .service(
            page("/keys/{key}/state")
                .route(show(KeyTab::State))
                .route(post(p::key::acts::submit_state)),
        )
        .service(
            page("/keys/{key}/plan")
                .route(show(KeyTab::Plan))
                .route(post(p::key::acts::submit_plan)),
        )
        .service(
            page("/keys/{key}/governance")
                .route(show(KeyTab::Governance))
                .route(post(p::key::acts::submit_council_action)),
        )
        .service(
            page("/keys/{key}/assess")
                .route(to(KeyTab::Evidence))
                .route(post(p::key::acts::submit_assessment)),
        )
        .service(
            page("/keys/{key}/attest")
                .route(to(KeyTab::Evidence))
                .route(post(p::key::acts::submit_attestation)),
        )
        .service(
            page("/keys/{key}/badge")
                .route(to(KeyTab::Evidence))
                .route(post(p::key::acts::submit_revocation_of_badge)),
        )
        .service(
            page("/keys/{key}/webhook")
                .route(to(KeyTab::Webhooks))
                .route(post(p::key::acts::submit_webhook)),
        );
}

/// Makes [`web::Query`] respond with an error page. Without this configuration, a browser gets a problem document
/// (JSON, RFC 9457).
fn query_config() -> web::QueryConfig {
    web::QueryConfig::default().error_handler(|_error, request| match console_state(request) {
        Ok(state) => invalid_query(ConsoleFrame::public(&state.site)).into(),
        Err(page) => page.into(),
    })
}

fn at(path: &str, allowed: &'static str) -> Resource {
    let reject = async move |state: web::Data<ConsoleState>| {
        let frame = ConsoleFrame::public(&state.site);
        let text = "This address does not support this kind of request.";
        error_page(frame, &rejection(StatusCode::METHOD_NOT_ALLOWED, text))
            .with(header::ALLOW, allowed.to_owned())
    };
    web::resource(path).default_service(web::to(reject))
}
