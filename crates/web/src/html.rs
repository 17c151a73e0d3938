//! The common base of all pages: layout, headers and caching.
//!
//! Each page is an askama template of its main part, and [`Layout`] renders the whole page around it. Each link in a
//! template begins with `base`, the path of the base URL. [`cached_page`] prepares a page that is the same for all
//! readers. [`private_page`] and [`PageResponse`] respond with any other page. The dashboard and the console share the
//! tools for [`forms`] and the formats of [`text`].

mod flash;
pub(crate) mod forms;
mod layout;
mod page_response;
mod rejection;
mod response;
pub(crate) mod text;

use actix_web::http::header::{self, HeaderMap};

pub(crate) use flash::{Flash, RESULT_WAIT, first_result, log_lost_result, store_result};
pub(crate) use layout::{Layout, Nav, NavLink, Notice, Sidebar, SiteAddress, current_link};
pub(crate) use page_response::{INVALID_QUERY, PageResponse, PageResult};
pub(crate) use rejection::Rejection;
pub(crate) use response::{cached_asset, cached_file, cached_page, private_page};

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
