//! The path of the landing page, which is served only to browsers.

use actix_web::{
    HttpRequest, HttpResponse, guard,
    http::header::{self, HeaderValue},
    web,
};

use crate::{html::accepts_html, state::WebState};

/// Mounts the landing page.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    let is_browser = guard::fn_guard(|context| accepts_html(context.head().headers()));
    let is_browser = guard::All(guard::Get()).and(is_browser);
    config.service(web::resource("/").guard(is_browser).route(web::get().to(landing)));
}

async fn landing(app: web::Data<WebState>, request: HttpRequest) -> HttpResponse {
    let mut response = app.landing.page().respond(&request);
    // Only clients whose `Accept` header has `text/html` get the page. With `Vary`, an HTTP cache does not serve the
    // page to other clients.
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}
