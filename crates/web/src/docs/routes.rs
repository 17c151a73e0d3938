//! The paths of the documentation, and the page for unknown paths below `/docs`.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web,
};
use askama::Template;
use sealpost_api::refuse_method;

use super::{
    layout::{DocsLayout, guide_sidebar},
    llms,
};
use crate::{html::private_page, state::WebState};

/// Mounts all documentation pages below `/docs`, and `/llms.txt`.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    for path in ["/docs", "/docs/{page:.*}", llms::PATH] {
        let page = web::resource(path).route(web::get().to(page));
        config.service(page.default_service(web::to(async || refuse_method(&Method::GET))));
    }
}

async fn page(app: web::Data<WebState>, request: HttpRequest) -> HttpResponse {
    if let Some(page) = app.docs.page(request.path().trim_end_matches('/')) {
        return page.respond(&request);
    }
    let main = NotFoundPage { base: &app.site.base_path };
    let layout = DocsLayout {
        site: &app.site,
        title: "No such page",
        path: "",
        sidebar: &guide_sidebar(),
        headings: &[],
    };
    let html = layout.render(&main);
    private_page(StatusCode::NOT_FOUND, html)
}

#[derive(Template)]
#[template(path = "docs/not_found.html")]
struct NotFoundPage<'a> {
    base: &'a str,
}
