//! The landing page. It is rendered at the first request, and then kept in memory.

use std::sync::OnceLock;

use askama::Template;
use sealpost_api::StaticContent;

use crate::{
    assets,
    docs::NAV,
    html::{Layout, LayoutExtras, SiteAddress, cached_page},
};

/// The landing page of a service. The commands on the page contain the public address of the service.
pub(crate) struct Landing {
    site: SiteAddress,
    page: OnceLock<StaticContent>,
}

impl Landing {
    pub(crate) fn new(site: SiteAddress) -> Self {
        Self { site, page: OnceLock::new() }
    }

    /// Returns the rendered page.
    pub(super) fn page(&self) -> &StaticContent {
        self.page.get_or_init(|| cached_page(render(&self.site)))
    }
}

fn render(site: &SiteAddress) -> String {
    let extras = LayoutExtras { stylesheet: Some(&assets::DOCS.name), ..LayoutExtras::default() };
    let main = LandingTemplate { base: &site.base_path, base_url: &site.base_url };
    let title = "Identities and sealed messages for your users";
    Layout { site, title, nav: NAV, current: "/" }.render_with(&main, &extras)
}

#[derive(Template)]
#[template(path = "landing.html")]
struct LandingTemplate<'a> {
    base: &'a str,
    base_url: &'a str,
}
