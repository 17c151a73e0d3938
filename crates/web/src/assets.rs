//! What pages load, from the binary itself. Each has a hash of its content in its name, so that browsers keep it for
//! good and still see a new one at once.

use std::sync::LazyLock;

use actix_web::{HttpRequest, HttpResponse, http::Method, web};
use sealpost_api::{Problem, Stored, content_name, refuse_method};

use super::stored;

/// One file that pages load.
pub(super) struct Asset {
    pub(super) name: String,
    stored: Stored,
}

/// How every page looks.
pub(super) static STYLESHEET: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "sealpost",
        "css",
        "text/css; charset=utf-8",
        include_str!("../../assets/sealpost.css"),
    )
});
/// What only the dashboard has, besides.
pub(super) static DASHBOARD: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../assets/dashboard.css");
    Asset::new("dashboard", "css", "text/css; charset=utf-8", text)
});
/// Copying of commands; pages work without it.
pub(super) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../assets/copy.js");
    Asset::new("copy", "js", "text/javascript; charset=utf-8", text)
});
/// The picture in a browser's tab.
pub(super) static ICON: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("icon", "svg", "image/svg+xml", include_str!("../../assets/icon.svg"))
});

impl Asset {
    fn new(stem: &str, extension: &str, kind: &'static str, text: &'static str) -> Self {
        let name = format!("{stem}.{}.{extension}", content_name(text.as_bytes()));
        Self { name, stored: stored::asset(kind, text) }
    }
}

/// Where the dashboard's stylesheet is.
pub(crate) fn dashboard() -> &'static str {
    &DASHBOARD.name
}

/// Every asset.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    let asset = web::resource("/assets/{name}").route(web::get().to(asset));
    config.service(asset.default_service(web::to(async || refuse_method(&Method::GET))));
}

async fn asset(request: HttpRequest, name: web::Path<String>) -> Result<HttpResponse, Problem> {
    let all = [&STYLESHEET, &DASHBOARD, &SCRIPT, &ICON];
    let found = all.into_iter().find(|asset| asset.name == *name).ok_or(Problem::NotFound)?;
    Ok(found.stored.answer(&request))
}
