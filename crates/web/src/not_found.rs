//! The response to a request for an unknown path: a page for browsers, a problem document for other clients.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use askama::Template;
use sealpost_api::Problem;

use crate::{
    html::{Layout, accepts_html, private_page},
    state::WebState,
};

/// Refuses a request for an unknown path with 404. A browser gets a page, unless the path is below the API. Any other
/// client gets the problem document of [`sealpost_api::no_such_path`].
pub async fn no_such_page(
    app: web::Data<WebState>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let path = request.path();
    if path == "/v1" || path.starts_with("/v1/") || !accepts_html(request.headers()) {
        return sealpost_api::no_such_path(request).await;
    }
    let layout = Layout::new(&app.site, "No such page");
    let page = NotFoundPage { base: &app.site.base_path };
    Ok(private_page(StatusCode::NOT_FOUND, layout.render(&page)))
}

#[derive(Template)]
#[template(path = "not_found.html")]
struct NotFoundPage<'a> {
    base: &'a str,
}
