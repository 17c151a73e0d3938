//! `GET /` for browsers: a page that introduces the service. Other clients get the 404 of an unknown path.

mod page;
mod routes;

pub(crate) use page::Landing;
pub(crate) use routes::routes;
