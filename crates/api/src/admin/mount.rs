//! Mounts the API for operators.

use actix_web::{middleware::from_fn, web};

use super::{endpoints::table, state::AdminState};
use crate::{middleware::middleware, mount::resource, response::Problem};

/// Mounts the API for operators below `/admin/v1`. Wraps each endpoint in the middleware that adds request ids, problem
/// documents, log and metrics.
pub fn admin_routes(state: web::Data<AdminState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state.api.clone()).app_data(state);
        for row in table() {
            config.service(resource(row).wrap(from_fn(middleware)));
        }
        let unknown = async || Err::<&str, _>(Problem::NotFound { nearest: None });
        let unknown = web::resource("/admin/{path}*").default_service(web::to(unknown));
        config.service(unknown.wrap(from_fn(middleware)));
    }
}
