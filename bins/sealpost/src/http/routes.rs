//! The whole surface of the API, one line per path.

use actix_web::{HttpRequest, HttpResponse, Resource, http::Method, middleware::from_fn, web};

use super::{Problem, handlers as h, throttle};

/// Every route of the API.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .service(get("/.well-known/did.json").route(web::get().to(h::did_document)))
        .service(get("/assets/badge.css").route(web::get().to(h::badge_stylesheet)))
        .service(get("/badges/{badge_id}").route(web::get().to(h::badge_page)))
        .service(get("/did.json").route(web::get().to(h::did_document)))
        .service(get("/v1/ping").route(web::get().to(h::ping)))
        .service(
            post("/v1/auth/login").route(web::post().to(h::login).wrap(from_fn(throttle::logins))),
        )
        .service(post("/v1/auth/logout").route(web::post().to(h::logout)))
        .service(post("/v1/auth/rotate-secret").route(web::post().to(h::rotate_secret)))
        .service(post("/v1/badges/issue").route(web::post().to(h::issue_badge)))
        .service(post("/v1/badges/verify").route(web::post().to(h::verify_badge)))
        .service(post("/v1/channel/open").route(web::post().to(h::open)))
        .service(post("/v1/channel/send").route(web::post().to(h::send)))
        .service(
            post("/v1/did/activate")
                .route(web::post().to(h::activate).wrap(from_fn(throttle::activations))),
        )
        .service(post("/v1/compliance/validate").route(web::post().to(h::validate_compliance)))
        .service(post("/v1/did/status").route(web::post().to(h::status)))
        .service(get("/v1/status/{list}").route(web::get().to(h::status_list)))
        .service(post("/v1/webhooks").route(web::post().to(h::manage_webhooks)))
        .service(post("/v1/webhooks/register").route(web::post().to(h::register_webhook)))
        .default_service(web::to(no_such_path));
}

/// A path that knows GET alone.
fn get(path: &str) -> Resource {
    web::resource(path).default_service(web::to(async || refuse_method(&Method::GET)))
}

/// A path that knows POST alone.
fn post(path: &str) -> Resource {
    web::resource(path).default_service(web::to(async || refuse_method(&Method::POST)))
}

fn refuse_method(allowed: &Method) -> Result<HttpResponse, Problem> {
    Err(Problem::MethodNotAllowed { allowed: allowed.clone() })
}

async fn no_such_path(_request: HttpRequest) -> Result<HttpResponse, Problem> {
    Err(Problem::NotFound)
}
