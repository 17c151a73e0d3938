//! What a developer reads at the service itself: the reference, made from the OpenAPI document, and a page for each
//! code. All of it is made once, when somebody first asks.

mod codes;
mod curl;
mod fields;
mod prose;
mod reference;

#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::OnceLock};

use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web,
};
use askama::Template;
use sealpost_api::{Stored, openapi, refuse_method};

use crate::{
    pages::{self, Layout, Link, Place},
    state::WebState,
};

/// The documentation of a service at one address.
pub(crate) struct Docs {
    place: Place,
    made: OnceLock<Made>,
}

struct Made {
    /// By path.
    pages: HashMap<String, Stored>,
}

impl Docs {
    pub(crate) fn new(base_url: &str) -> Self {
        Self { place: Place::new(base_url), made: OnceLock::new() }
    }

    /// Where the pages are.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    fn page(&self, path: &str) -> Option<&Stored> {
        self.made().pages.get(path)
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| Made::new(&self.place))
    }
}

impl Made {
    fn new(place: &Place) -> Self {
        let document = openapi(&place.base_url);
        let mut pages = HashMap::from([
            ("/docs".to_owned(), reference::page(place, &document)),
            ("/docs/errors".to_owned(), codes::index(place)),
        ]);
        pages.extend(codes::pages(place));
        Self { pages: pages.into_iter().map(|(path, html)| (path, pages::page(html))).collect() }
    }
}

/// Every page below `/docs`.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    for path in ["/docs", "/docs/{page:.*}"] {
        let page = web::resource(path).route(web::get().to(page));
        config.service(page.default_service(web::to(async || refuse_method(&Method::GET))));
    }
}

async fn page(app: web::Data<WebState>, request: HttpRequest) -> HttpResponse {
    if let Some(page) = app.docs.page(request.path().trim_end_matches('/')) {
        return page.answer(&request);
    }
    let place = &app.docs.place;
    let missing = Missing { base: &place.base_path };
    let html = layout(place, "No such page", "").around(&missing);
    pages::private(StatusCode::NOT_FOUND, html)
}

#[derive(Template)]
#[template(path = "missing.html")]
struct Missing<'a> {
    base: &'a str,
}

fn layout<'a>(place: &'a Place, title: &'a str, here: &'a str) -> Layout<'a> {
    Layout { place, title, nav: NAV, here }
}

const NAV: &[Link] = &[
    Link { text: "Reference", to: "/docs" },
    Link { text: "Errors", to: "/docs/errors" },
    Link { text: "OpenAPI", to: "/openapi.json" },
];
