//! The dashboard: pages and forms for the owner of an account. Rendered on the server, complete without JavaScript.
//! Requests act through [`sealpost_service::Owner`] and count against no plan.

mod charts;
mod forms;
mod pages;
mod response;
mod routes;
mod session;
mod text;

pub(crate) use routes::routes;
