//! The landing page. It is rendered at the first request, and then kept in memory.

use std::sync::OnceLock;

use askama::Template;
use sealpost_api::StaticContent;
use sealpost_service::Activation;

use crate::{
    assets,
    docs::highlighted,
    html::{Layout, SiteAddress, cached_page},
};

/// The landing page of a service. The commands on the page contain the public address of the service.
pub(crate) struct Landing {
    site: SiteAddress,
    activation: Activation,
    page: OnceLock<StaticContent>,
}

impl Landing {
    pub(crate) fn new(site: SiteAddress, activation: Activation) -> Self {
        Self { site, activation, page: OnceLock::new() }
    }

    /// Returns the rendered page.
    pub(super) fn page(&self) -> &StaticContent {
        self.page.get_or_init(|| cached_page(render(&self.site, self.activation)))
    }
}

fn render(site: &SiteAddress, activation: Activation) -> String {
    let program = |language: &str, text: &str| {
        highlighted(language, text.trim_end()).replace(EXAMPLE_URL, &site.base_url)
    };
    let main = LandingTemplate {
        base: &site.base_path,
        shell: program("sh", include_str!("../../templates/landing/try_it.sh")),
        python: program("python", include_str!("../../templates/landing/try_it.py")),
        typescript: program("js", include_str!("../../templates/landing/try_it.mjs")),
        activation,
    };
    let title = "Identities and sealed messages for your users";
    Layout { stylesheet: Some(&assets::DOCS.name), ..Layout::new(site, title) }.render(&main)
}

#[derive(Template)]
#[template(path = "landing.html")]
struct LandingTemplate<'a> {
    base: &'a str,
    // The programs as HTML.
    shell: String,
    python: String,
    typescript: String,
    activation: Activation,
}

/// The address of the service in the programs.
const EXAMPLE_URL: &str = "https://sealpost.example";
