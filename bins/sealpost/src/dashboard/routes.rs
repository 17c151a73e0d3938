//! The dashboard's paths, a line for each.

use actix_web::{Resource, guard, web};

use super::{page::Page, pages as p};

/// Every page and every form.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .service(
            at("/dashboard/sign-in")
                .route(web::get().to(p::sign_in::show))
                .route(web::post().to(p::sign_in::submit)),
        )
        .service(
            at("/dashboard/open-account")
                .route(web::get().to(p::open_account::show))
                .route(web::post().to(p::open_account::submit)),
        )
        .service(at("/dashboard/sign-out").route(web::post().to(p::account::sign_out)))
        .service(at("/dashboard").route(web::get().to(p::overview::show)))
        .service(at("/dashboard/account").route(web::get().to(p::account::show)))
        .service(at("/dashboard/account/sessions").route(web::post().to(p::account::end_session)))
        .service(at("/dashboard/account/secret").route(web::post().to(p::account::rotate_secret)))
        .service(
            at("/dashboard/keys")
                .route(web::get().to(p::new_key::show))
                .route(web::post().to(p::new_key::submit)),
        )
        .service(at("/dashboard/keys/{key}").route(web::get().to(p::key::show)))
        .service(
            at("/dashboard/keys/{key}/revoke")
                .route(web::get().to(p::revoke::show))
                .route(web::post().to(p::revoke::submit)),
        )
        .service(at("/dashboard/keys/{key}/webhooks").route(web::post().to(p::webhook::register)))
        .service(
            at("/dashboard/keys/{key}/webhooks/{webhook}")
                .route(web::get().to(p::webhook::show))
                .route(web::post().to(p::webhook::act)),
        )
        .service(
            web::resource("/dashboard/{rest}*")
                .guard(guard::Any(guard::Get()).or(guard::Post()))
                .default_service(web::to(async || Page::not_found())),
        );
}

fn at(path: &str) -> Resource {
    web::resource(path).default_service(web::to(async || Page::wrong_method()))
}
