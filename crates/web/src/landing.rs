//! `GET /` for browsers: a page that introduces the service. Other clients get a 404 response, as for an unknown path.

mod page;
mod routes;

pub(crate) use page::Landing;
pub(crate) use routes::routes;
