//! The state that all pages share, and their settings.

use std::sync::Arc;

use actix_web::{cookie::SameSite, web};
use sealpost_api::{ApiState, SessionOrAccount, Throttle};

use crate::{
    dashboard::live::LiveStreams, docs::Docs, host_cookie::HostCookie, html::SiteAddress,
    landing::Landing,
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

/// The settings of the web pages.
#[derive(Debug, Clone)]
pub struct WebSettings {
    /// The maximum number of dashboard pages per minute and session. All sessions of an account together can request
    /// four times as many. A form counts as four pages. 0 turns the limit off.
    pub dashboard_per_minute: u32,
    /// The maximum number of live event logs of one account on this node. A live log streams new entries to a browser.
    /// If the account opens one more live log, its oldest one ends. 0 turns live logs off.
    pub live_logs_per_account: usize,
    /// The maximum number of live event logs of all accounts together on this node. 0 turns live logs off.
    pub live_logs: usize,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self { dashboard_per_minute: 120, live_logs_per_account: 4, live_logs: 200 }
    }
}

impl WebState {
    /// Creates the state. Pages and API run in the same server and share `api`.
    pub fn new(api: web::Data<ApiState>, settings: &WebSettings) -> Self {
        let WebSettings { dashboard_per_minute, live_logs_per_account, live_logs } = *settings;
        let sales_contact = api.sealpost.sales_contact().map(str::to_owned);
        let site = SiteAddress::new(&api.settings.base_url);
        let docs = Docs::new(site.clone());
        let landing = Landing::new(site.clone(), api.sealpost.activation());
        let dashboard = Throttle::new(dashboard_per_minute);
        let live = Arc::new(LiveStreams::new(live_logs_per_account, live_logs));
        Self { api, dashboard, sales_contact, live, docs, landing, site }
    }

    /// Returns the cookie of the dashboard that contains the session token.
    pub(crate) fn session_cookie(&self) -> HostCookie {
        HostCookie {
            name: "sealpost",
            is_secure: self.api.settings.is_secure,
            same_site: SameSite::Lax,
        }
    }

    /// Returns the cookie of the dashboard that carries the result of a form to the page after the redirect.
    pub(crate) fn result_cookie(&self) -> HostCookie {
        HostCookie { name: "sealpost-result", same_site: SameSite::Strict, ..self.session_cookie() }
    }

    /// Ends the live streams. Call this before the server stops, because a stopping server waits for open responses.
    pub fn stop(&self) {
        self.live.stop();
    }
}
