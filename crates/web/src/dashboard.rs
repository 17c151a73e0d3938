//! The dashboard: pages and forms for the owner of an account. The server renders the pages, and they work without
//! JavaScript. The dashboard calls the service through [`sealpost_service::Owner`], so its requests do not count
//! against the limits of a key's plan.

pub(crate) mod charts;
mod forms;
pub(crate) mod health;
pub(crate) mod live;
mod pages;
mod response;
mod routes;
mod session;
mod text;

pub(crate) use routes::routes;
