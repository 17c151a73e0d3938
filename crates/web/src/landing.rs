//! `GET /` for browsers: a page that introduces the service. Other clients get the 404 of an unknown path.

use std::sync::OnceLock;

use actix_web::{
    HttpRequest, HttpResponse,
    guard::{self, GuardContext},
    http::header,
    web,
};
use askama::Template;
use sealpost_api::StaticContent;

use crate::{
    assets,
    docs::NAV,
    html::{Layout, LayoutExtras, SiteAddress, cached_page},
    state::WebState,
};

/// The landing page. It is rendered at the first request, and then kept in memory.
pub(crate) struct Landing {
    site: SiteAddress,
    page: OnceLock<StaticContent>,
}

impl Landing {
    pub(crate) fn new(site: SiteAddress) -> Self {
        Self { site, page: OnceLock::new() }
    }

    fn page(&self) -> &StaticContent {
        self.page.get_or_init(|| cached_page(render(&self.site)))
    }
}

/// Mounts the landing page.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    let is_browser = guard::All(guard::Get()).and(guard::fn_guard(accepts_html));
    config.service(web::resource("/").guard(is_browser).route(web::get().to(landing)));
}

async fn landing(app: web::Data<WebState>, request: HttpRequest) -> HttpResponse {
    let mut response = app.landing.page().respond(&request);
    // A cache must not give the page to other clients.
    response.headers_mut().insert(header::VARY, header::HeaderValue::from_static("Accept"));
    response
}

/// Returns true if the client names HTML. Browsers do. `*/*` alone, as API clients send it, is not enough.
fn accepts_html(context: &GuardContext<'_>) -> bool {
    let mut accepted = context.head().headers().get_all(header::ACCEPT);
    accepted.any(|line| line.to_str().is_ok_and(names_html))
}

fn names_html(accept: &str) -> bool {
    let mut ranges = accept.split(',').map(|range| range.split(';').next().unwrap_or_default());
    ranges.any(|range| range.trim().eq_ignore_ascii_case("text/html"))
}

fn render(site: &SiteAddress) -> String {
    let extras = LayoutExtras { stylesheet: Some(&assets::DOCS.name), nav_end: String::new() };
    let main = LandingPage { base: &site.base_path, base_url: &site.base_url };
    let layout = Layout {
        site,
        title: "Identities and sealed messages for your users",
        nav: NAV,
        current: "/",
    };
    layout.render_with(&main, &extras)
}

#[derive(Template)]
#[template(path = "landing.html")]
struct LandingPage<'a> {
    base: &'a str,
    base_url: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clients_that_name_html_get_the_page() {
        for (accept, is_browser) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("application/json, TEXT/HTML;q=0.5", true),
            ("*/*", false),
            ("application/json", false),
            ("text/htmlx", false),
            ("", false),
        ] {
            assert_eq!(names_html(accept), is_browser, "{accept}");
        }
    }
}
