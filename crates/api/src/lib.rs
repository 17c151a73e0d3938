//! The HTTP API of Sealpost: endpoints, error responses, and the OpenAPI document.
//!
//! [`routes`] mounts the API in any actix-web server: `App::new().configure(sealpost_api::routes(state))`. The file
//! `examples/mount.rs` is a complete server.

mod admin;
mod admission;
mod connection_record;
mod endpoint;
mod endpoints;
pub mod errors;
mod middleware;
mod mount;
mod openapi;
mod request;
mod response;
mod settings;
mod state;
mod throttle;

pub use admin::{AdminSettings, AdminState, admin_openapi, admin_routes};
pub use admission::{
    admit_activation, admit_repetition, admit_secret_change, admit_sign_up, admit_test, log_in,
    recover, run_ending, session_and_account, verify_login_secret,
};
pub use connection_record::ConnectionRecord;
pub use endpoints::openapi;
pub use middleware::{ConnectionProblems, middleware, support_head};
pub use mount::{no_such_path, refuse_method, routes, routes_without_middleware};
pub use request::request_source;
pub use response::{
    PAGE_TYPE, Problem, ProblemDocument, RateLimit, StaticContent, content_hash, exported_account,
    status_and_title, whole_seconds,
};
pub use settings::ApiSettings;
pub use state::ApiState;
pub use throttle::{SessionOrAccount, Throttle};
