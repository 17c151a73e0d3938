//! Mounts the endpoints in an actix-web server.

use std::future;

use actix_web::{HttpRequest, HttpResponse, Resource, http::Method, middleware::from_fn, web};

use crate::{
    endpoint::Row, endpoints::table, middleware::middleware, response::Problem, state::ApiState,
};

/// Mounts the API in any actix-web server: `App::new().configure(sealpost_api::routes(state))`. Each endpoint has its
/// own middleware: request id, problem documents, log and metrics. The server around the endpoints stays as it is.
pub fn routes(state: web::Data<ApiState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state);
        for row in table() {
            config.service(resource(row).wrap(from_fn(middleware)));
        }
    }
}

/// Mounts the API in a server that wraps all its services in [`middleware`](fn@middleware).
pub fn routes_without_middleware(
    state: web::Data<ApiState>,
) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state);
        for row in table() {
            config.service(resource(row));
        }
    }
}

/// Returns the resource of a path with one method. All other methods are refused with 405.
fn resource(Row { method, path, endpoint }: Row) -> Resource {
    let route = endpoint.route.method(method.clone());
    let refuse = move || future::ready(refuse_method(&method));
    web::resource(path).route(route).default_service(web::to(refuse))
}

/// Refuses a request with another method than `allowed`, the only method of the path.
pub fn refuse_method(allowed: &Method) -> Result<HttpResponse, Problem> {
    Err(Problem::MethodNotAllowed { allowed: allowed.clone() })
}

/// Refuses a request for a path without a resource.
pub async fn no_such_path(_request: HttpRequest) -> Result<HttpResponse, Problem> {
    Err(Problem::NotFound)
}
