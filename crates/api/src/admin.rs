//! The API for operators, below `/admin/v1`, with its own OpenAPI document. It is served at the operations address, a
//! second HTTP listener that also serves metrics and health checks.

mod endpoints;
mod request;
mod state;

pub use endpoints::{admin_openapi, admin_routes};
pub use state::{AdminSettings, AdminState};
