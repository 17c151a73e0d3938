//! Functions that mount the endpoints in an actix-web server, and refuse other methods and paths.

use std::{future, sync::LazyLock};

use actix_web::{HttpRequest, HttpResponse, Resource, http::Method, middleware::from_fn, web};

use crate::{
    endpoint::Row,
    endpoints::table,
    middleware::middleware,
    request::{edit_distance, nearest},
    response::Problem,
    state::ApiState,
};

/// Mounts the API in any actix-web server: `App::new().configure(sealpost_api::routes(state))`. Wraps each endpoint in
/// the middleware for request ids, problem documents, log and metrics. The server's own routes are not affected.
pub fn routes(state: web::Data<ApiState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state);
        for row in table() {
            config.service(resource(row).wrap(from_fn(middleware)));
        }
    }
}

/// Mounts the API without its middleware. Use this function in a server that already wraps all its routes in
/// [`middleware`](fn@middleware).
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

/// Returns a resource that accepts one method on a path, and refuses all other methods with 405.
pub(crate) fn resource(Row { method, path, endpoint }: Row) -> Resource {
    let route = endpoint.route.method(method.clone());
    let refuse = move |request: HttpRequest| {
        let is_preflight = request.method() == Method::OPTIONS;
        let allowed = method.clone();
        future::ready(Err::<HttpResponse, _>(Problem::MethodNotAllowed { allowed, is_preflight }))
    };
    web::resource(path).route(route).default_service(web::to(refuse))
}

/// Refuses a request with another method than `allowed`, the only method of the path.
pub fn refuse_method(allowed: &Method) -> Result<HttpResponse, Problem> {
    Err(Problem::MethodNotAllowed { allowed: allowed.clone(), is_preflight: false })
}

/// Refuses a request for an unknown path with 404. The error names the most similar path of the API, if one is similar.
pub async fn no_such_path(request: HttpRequest) -> Result<HttpResponse, Problem> {
    Err(Problem::NotFound { nearest: nearest_path(request.path()) })
}

/// Returns the most similar path of the API if it differs in at most [`DIFFERENCE_MAX`] characters, and in at most a
/// third of its characters. Otherwise returns `None`.
fn nearest_path(path: &str) -> Option<&'static str> {
    static PATHS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let paths = table().into_iter().map(|row| row.path);
        paths.filter(|path| !path.contains('{')).collect()
    });
    if path.len() > PATH_LENGTH_MAX {
        return None;
    }
    nearest(path, &PATHS)
        .filter(|nearest| edit_distance(path, nearest) <= DIFFERENCE_MAX.min(nearest.len() / 3))
}

/// Maximum length in bytes of an unknown path for which a similar path is searched. All paths of the API are shorter.
const PATH_LENGTH_MAX: usize = 64;
const DIFFERENCE_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_few_wrong_characters_has_a_nearest_path() {
        for (path, meant) in [
            ("/v1/ping/", Some("/v1/ping")),
            ("/V1/ping", Some("/v1/ping")),
            ("/v1/pong", Some("/v1/ping")),
            ("/v1/webhook", Some("/v1/webhooks")),
            ("/v1/webhooks/rotate_secret", Some("/v1/webhooks/rotate-secret")),
            ("/channel/send", Some("/v1/channel/send")),
            ("/v1/channel/sent/", Some("/v1/channel/send")),
            ("/", None),
            ("/log", Some("/log/")),
            ("/nope", None),
            ("/v1", None),
            ("/v1/", None),
            ("/dash", None),
        ] {
            assert_eq!(nearest_path(path), meant, "{path}");
        }
        assert_eq!(nearest_path(&"/".repeat(65)), None);
    }
}
