//! The path of the landing page, which is served only to browsers.

use actix_web::{
    HttpRequest, HttpResponse,
    guard::{self, GuardContext},
    http::header::{self, HeaderValue},
    web,
};

use crate::state::WebState;

/// Mounts the landing page.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    let is_browser = guard::All(guard::Get()).and(guard::fn_guard(accepts_html));
    config.service(web::resource("/").guard(is_browser).route(web::get().to(landing)));
}

async fn landing(app: web::Data<WebState>, request: HttpRequest) -> HttpResponse {
    let mut response = app.landing.page().respond(&request);
    // Only clients that name HTML in `Accept` get the page. With `Vary`, an HTTP cache does not serve the page to other
    // clients.
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

/// Returns true if the header `Accept` names `text/html`, as browsers do. API clients often send only `*/*`, which is
/// not enough.
fn accepts_html(context: &GuardContext<'_>) -> bool {
    let mut accepted = context.head().headers().get_all(header::ACCEPT);
    accepted.any(|line| line.to_str().is_ok_and(names_html))
}

fn names_html(accept: &str) -> bool {
    let mut ranges = accept.split(',').map(|range| range.split(';').next().unwrap_or_default());
    ranges.any(|range| range.trim().eq_ignore_ascii_case("text/html"))
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
