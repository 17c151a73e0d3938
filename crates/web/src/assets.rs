//! The stylesheets, scripts and icon of the pages, embedded in the binary. The name of each file contains a hash of its
//! content, so browsers may cache the file permanently.

use std::sync::LazyLock;

use actix_web::{HttpRequest, HttpResponse, http::Method, web};
use sealpost_api::{Problem, StaticContent, content_hash, refuse_method};

use crate::html::cached_asset;

/// A file that pages load, such as a stylesheet.
pub(crate) struct Asset {
    pub(crate) name: String,
    file: StaticContent,
}

/// The stylesheet of all pages.
pub(crate) static STYLESHEET: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("sealpost", "css", CSS, include_str!("../assets/sealpost.css")));
/// An additional stylesheet for the pages of the dashboard.
pub(crate) static DASHBOARD: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("dashboard", "css", CSS, include_str!("../assets/dashboard.css")));
/// An additional stylesheet for the landing page and the documentation.
pub(crate) static DOCS: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("docs", "css", CSS, include_str!("../assets/docs.css")));
/// The script that adds a copy button to each code block, secret and id. Pages also work without this script.
pub(crate) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("copy", "js", JAVASCRIPT, include_str!("../assets/copy.js")));
/// The script that searches the documentation. Without this script, the pages show no search field.
pub(crate) static SEARCH: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("search", "js", JAVASCRIPT, include_str!("../assets/search.js")));
/// The script that marks the current section in the list of sections, and scrolls the list of pages to the current
/// page. Pages also work without this script.
pub(crate) static PLACE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("place", "js", JAVASCRIPT, include_str!("../assets/place.js")));
/// The script that adds a button to the event log. After a click, new entries appear without a reload. Without this
/// script, a link reloads the log.
pub(crate) static LIVE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("live", "js", JAVASCRIPT, include_str!("../assets/live.js")));
/// The icon in the browser tab.
pub(crate) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", SVG, include_str!("../assets/icon.svg")));

impl Asset {
    fn new(stem: &str, extension: &str, content_type: &'static str, content: &'static str) -> Self {
        let name = format!("{stem}.{}.{extension}", content_hash(content.as_bytes()));
        Self { name, file: cached_asset(content_type, content) }
    }
}

/// Mounts the assets below `/assets`.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    let asset = web::resource("/assets/{name}").route(web::get().to(asset));
    config.service(asset.default_service(web::to(async || refuse_method(&Method::GET))));
}

async fn asset(request: HttpRequest, name: web::Path<String>) -> Result<HttpResponse, Problem> {
    let all = [&STYLESHEET, &DASHBOARD, &DOCS, &SCRIPT, &SEARCH, &PLACE, &LIVE, &ICON];
    let found = all
        .into_iter()
        .find(|asset| asset.name == *name)
        .ok_or(Problem::NotFound { nearest: None })?;
    Ok(found.file.respond(&request))
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";
