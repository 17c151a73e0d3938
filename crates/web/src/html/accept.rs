//! Recognises browsers by the header `Accept`.

use actix_web::http::header::{self, HeaderMap};

/// Returns true if the header `Accept` names `text/html`, as browsers do. API clients often send only `*/*`, which is
/// not enough.
pub(crate) fn accepts_html(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT).any(|line| line.to_str().is_ok_and(names_html))
}

fn names_html(accept: &str) -> bool {
    let mut ranges = accept.split(',').map(|range| range.split(';').next().unwrap_or_default());
    ranges.any(|range| range.trim().eq_ignore_ascii_case("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clients_that_name_html_are_browsers() {
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
