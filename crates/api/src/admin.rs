//! The API for operators, below `/admin/v1`. It is served at the operations address, and has its own OpenAPI document.

mod endpoints;
mod mount;
mod page;
mod request;
mod state;

pub use endpoints::admin_openapi;
pub use mount::admin_routes;
pub use state::{AdminSettings, AdminState};
