//! The dashboard: pages and forms for the owner of an account. Pages are rendered on the server and work without
//! JavaScript. Requests act through [`sealpost_service::Owner`] and do not count against the limits of a plan.

mod charts;
mod forms;
mod pages;
mod response;
mod routes;
mod session;
mod text;

pub(crate) use routes::routes;
