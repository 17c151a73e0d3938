//! The API for operators, below `/admin/v1`. It is served on the operations address, and has an OpenAPI document of its
//! own.

mod endpoints;
mod mount;
mod page;
mod request;
mod state;

pub use endpoints::admin_openapi;
pub use mount::admin_routes;
pub use state::{AdminSettings, AdminState};
