//! The HTTP API of Sealpost: endpoints, problem documents, and the OpenAPI document.
//!
//! [`routes`] mounts the API in any actix-web server: `App::new().configure(sealpost_api::routes(state))`.

pub mod errors;
mod http;
mod openapi;
mod state;
mod stored;

pub use http::{
    PAGE_TYPE, Problem, ProblemDocument, RateLimit, Throttle, admit_activation, admit_login,
    endpoints, envelope, no_such_path, refuse_method, routes, status_and_title, whole_seconds,
};
pub use openapi::openapi;
pub use state::{ApiSettings, ApiState};
pub use stored::{Stored, content_name};
