//! The console: pages and forms for the operators of the service. The operations address, a second HTTP listener for
//! metrics and health checks, serves these pages. The pages have the style of the dashboard, and work without
//! JavaScript. Every change goes through [`sealpost_service::Operator`], which records the change in the audit trail.

mod form;
mod pages;
mod response;
mod routes;
mod state;
mod user;

pub use routes::routes;
pub use state::ConsoleState;
