//! The landing page. It is rendered at the first request, and then kept in memory.

use std::sync::OnceLock;

use askama::Template;
use sealpost_api::StaticContent;
use sealpost_service::Activation;

use crate::{
    assets,
    html::{Layout, LayoutExtras, Nav, SiteAddress, cached_page},
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
    let extras = LayoutExtras { stylesheet: Some(&assets::DOCS.name), ..LayoutExtras::default() };
    let main = LandingTemplate { base: &site.base_path, base_url: &site.base_url, activation };
    let title = "Identities and sealed messages for your users";
    Layout { site, title, nav: &Nav::SITE, current: "" }.render_with(&main, &extras)
}

#[derive(Template)]
#[template(path = "landing.html")]
struct LandingTemplate<'a> {
    base: &'a str,
    base_url: &'a str,
    activation: Activation,
}

#[expect(unreachable_pub, reason = "the macro makes a public type")]
mod filters {
    use std::fmt::Display;

    use askama::{Result, Values};

    /// Marks the tokens of an example program.
    #[askama::filter_fn]
    pub(super) fn highlighted(
        code: impl Display,
        _: &dyn Values,
        language: &str,
    ) -> Result<String> {
        Ok(crate::docs::highlighted(language, &code.to_string()))
    }
}
