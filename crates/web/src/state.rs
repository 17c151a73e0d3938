//! The state that all pages share.

use std::sync::Arc;

use actix_web::web;
use sealpost_api::{ApiState, SessionOrAccount, Throttle};

use crate::{
    dashboard::live::LiveStreams, docs::Docs, html::SiteAddress, landing::Landing,
    settings::WebSettings,
};

/// The state that all pages share: the state of the API, the rate limit of the dashboard, the rendered
/// documentation, and the landing page.
pub struct WebState {
    pub(crate) api: web::Data<ApiState>,
    /// Limits the pages and forms of signed-in users, per session and account.
    pub(crate) dashboard: Throttle<SessionOrAccount>,
    /// The contact for users who need larger limits. `None` shows no link.
    pub(crate) sales_contact: Option<String>,
    pub(crate) live: Arc<LiveStreams>,
    pub(crate) docs: Docs,
    pub(crate) landing: Landing,
    pub(crate) site: SiteAddress,
}

impl WebState {
    /// Creates the state. Pages and API run in the same server and share `api`.
    pub fn new(api: web::Data<ApiState>, settings: &WebSettings) -> Self {
        let WebSettings { dashboard_per_minute, live_logs_per_account, live_logs } = *settings;
        let sales_contact = api.sealpost.sales_contact().map(str::to_owned);
        let site = SiteAddress::new(&api.base_url);
        let docs = Docs::new(site.clone());
        let landing = Landing::new(site.clone(), api.sealpost.activation());
        let dashboard = Throttle::new(dashboard_per_minute);
        let live = Arc::new(LiveStreams::new(live_logs_per_account, live_logs));
        Self { api, dashboard, sales_contact, live, docs, landing, site }
    }

    /// Ends the live streams. Call this before the server stops, because a stopping server waits for open responses.
    pub fn stop(&self) {
        self.live.stop();
    }
}
