//! Mounts all pages except the console in an actix-web server.

use actix_web::web;

use crate::{assets, badge_page, dashboard, docs, landing, log_page, state::WebState};

/// Mounts badge pages, documentation, the landing page, the page that verifies proofs of the transparency log, assets
/// and the dashboard. The server must wrap these routes in [`sealpost_api::middleware`].
pub fn routes(state: web::Data<WebState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config
            .app_data(state.result_cookie())
            .app_data(state)
            .configure(badge_page::routes)
            .configure(docs::routes)
            .configure(landing::routes)
            .configure(log_page::routes)
            .configure(assets::routes)
            .configure(dashboard::routes);
    }
}
