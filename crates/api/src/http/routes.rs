//! The whole surface: a table of the API's endpoints, of which the OpenAPI document is made too, and the pages for
//! people.

use actix_web::{HttpRequest, HttpResponse, Route, http::Method, middleware::from_fn, web};

use super::{ApiState, Problem, envelope, handlers as h, throttle};

/// One path of the API: which method it knows, and who answers.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    route: Route,
}

/// The API. An endpoint is described in `openapi/operations`.
pub(crate) fn served() -> Vec<Endpoint> {
    vec![
        post("/v1/did/activate", |to| to.to(h::activate).wrap(from_fn(throttle::activations))),
        post("/v1/did/status", |to| to.to(h::status)),
        post("/v1/auth/login", |to| to.to(h::login).wrap(from_fn(throttle::logins))),
        post("/v1/auth/logout", |to| to.to(h::logout)),
        post("/v1/auth/rotate-secret", |to| to.to(h::rotate_secret)),
        post("/v1/channel/send", |to| to.to(h::send)),
        post("/v1/channel/open", |to| to.to(h::open)),
        post("/v1/webhooks/register", |to| to.to(h::register_webhook)),
        post("/v1/webhooks", |to| to.to(h::manage_webhooks)),
        get("/v1/ping", |to| to.to(h::ping)),
        post("/v1/badges/issue", |to| to.to(h::issue_badge)),
        post("/v1/badges/verify", |to| to.to(h::verify_badge)),
        get("/v1/status/{list}", |to| to.to(h::status_list)),
        post("/v1/compliance/validate", |to| to.to(h::validate_compliance)),
        get("/.well-known/did.json", |to| to.to(h::did_document)),
        get("/did.json", |to| to.to(h::did_document)),
        get("/openapi.json", |to| to.to(h::document)),
    ]
}

/// Mounts the API in a server: `App::new().configure(sealpost_api::routes(state))`. Each endpoint names its requests and
/// answers with problem documents, whatever the server around it does.
pub fn routes(state: web::Data<ApiState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state);
        for endpoint in served() {
            config.service(endpoint.resource().wrap(from_fn(envelope)));
        }
    }
}

/// Mounts the API in a server that wraps everything in [`envelope`] itself.
pub fn endpoints(state: web::Data<ApiState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state);
        for endpoint in served() {
            config.service(endpoint.resource());
        }
    }
}

impl Endpoint {
    /// A path that knows this one method.
    fn resource(self) -> actix_web::Resource {
        let Self { method, path, route } = self;
        let refuse = move || std::future::ready(refuse_method(&method));
        web::resource(path).route(route).default_service(web::to(refuse))
    }
}

fn get(path: &'static str, answered: fn(Route) -> Route) -> Endpoint {
    Endpoint { method: Method::GET, path, route: answered(web::get()) }
}

fn post(path: &'static str, answered: fn(Route) -> Route) -> Endpoint {
    Endpoint { method: Method::POST, path, route: answered(web::post()) }
}

/// A method that a path does not know.
pub fn refuse_method(allowed: &Method) -> Result<HttpResponse, Problem> {
    Err(Problem::MethodNotAllowed { allowed: allowed.clone() })
}

/// Answers a path that nobody serves.
pub async fn no_such_path(_request: HttpRequest) -> Result<HttpResponse, Problem> {
    Err(Problem::NotFound)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use crate::openapi;

    #[test]
    fn every_endpoint_is_documented_and_nothing_else_is() {
        let served: Vec<_> =
            super::served().into_iter().map(|known| (known.method, known.path)).collect();
        let written = openapi::written();
        for (method, path) in &served {
            assert!(
                written.contains(&(method.clone(), *path)),
                "{method} {path} is not documented: describe it in a file of crates/api/src/openapi/operations, and \
                 name that in the list in operations.rs"
            );
        }
        for (method, path) in &written {
            assert!(
                served.contains(&(method.clone(), *path)),
                "{method} {path} is described in crates/api/src/openapi/operations, but not in served() of \
                 crates/api/src/http/routes.rs"
            );
        }
        assert_eq!(written.len(), served.len(), "something is described or served twice");
    }

    /// A route past the table would be one that nobody has to document.
    #[test]
    fn the_api_has_no_routes_but_those_of_the_table() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut folders = vec![source.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
                let text = fs::read_to_string(&path).unwrap();
                let has_routes = ["web::resource", "web::scope", "#[get(", "#[post(", "#[route("]
                    .iter()
                    .any(|way| text.contains(way));
                assert!(
                    !has_routes || NOT_THE_API.iter().any(|known| name.starts_with(known)),
                    "{name} has routes of its own: endpoints of the API belong into served() of http/routes.rs, \
                     and a file with pages for people into NOT_THE_API there"
                );
            }
        }
    }

    /// This table.
    const NOT_THE_API: &[&str] = &["http/routes.rs"];
}
