//! The state that all pages share.

use actix_web::web;
use sealpost_api::{ApiState, Throttle};
use sealpost_domain::AccountId;

use crate::{docs::Docs, html::SiteAddress, landing::Landing, settings::WebSettings};

/// The state that all pages share: the state of the API, the rate limit of the dashboard, the rendered
/// documentation, and the landing page.
pub struct WebState {
    pub(crate) api: web::Data<ApiState>,
    /// Limits the pages and forms of signed-in users, per account.
    pub(crate) dashboard: Throttle<AccountId>,
    /// The contact address for users who need larger limits. `None` shows no link.
    pub(crate) sales_contact: Option<String>,
    pub(crate) docs: Docs,
    pub(crate) landing: Landing,
    pub(crate) site: SiteAddress,
}

impl WebState {
    /// Creates the state. Pages and API run in the same server and share `api`.
    pub fn new(api: web::Data<ApiState>, settings: WebSettings) -> Self {
        let WebSettings { dashboard_per_minute, sales_contact } = settings;
        let site = SiteAddress::new(&api.base_url);
        let docs = Docs::new(site.clone());
        let landing = Landing::new(site.clone());
        let dashboard = Throttle::new(dashboard_per_minute);
        Self { api, dashboard, sales_contact, docs, landing, site }
    }
}
