//! The state that the pages share, and their routes.

use actix_web::web;
use sealpost_api::{ApiState, Throttle};
use sealpost_domain::AccountId;

use crate::{badge_page, dashboard, docs, docs::Docs, pages};

/// What every page can reach.
pub struct WebState {
    pub(crate) api: web::Data<ApiState>,
    /// Of whoever is signed in, by account.
    pub(crate) dashboard: Throttle<AccountId>,
    pub(crate) docs: Docs,
}

impl WebState {
    /// The state of pages beside this API. An account may ask for `dashboard_per_minute` pages; 0 turns the limit off.
    pub fn new(api: web::Data<ApiState>, dashboard_per_minute: u32) -> Self {
        let docs = Docs::new(&api.base_url);
        Self { api, dashboard: Throttle::new(dashboard_per_minute), docs }
    }
}

/// Mounts badge pages, documentation, assets, and the dashboard. The server wraps them in [`sealpost_api::envelope`].
pub fn routes(state: web::Data<WebState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config
            .app_data(state)
            .configure(badge_page::routes)
            .configure(docs::routes)
            .configure(pages::routes)
            .configure(dashboard::routes);
    }
}
