//! The dashboard: what people see and do in a browser. Rendered on the server and complete without JavaScript; whoever
//! is signed in acts through [`sealpost_service::Owner`], which counts against no plan.

mod chart;
mod cookie;
mod form;
mod frame;
mod page;
mod pages;
mod refused;
mod routes;
mod same_site;
mod show;
mod signed_in;

pub(crate) use routes::routes;
