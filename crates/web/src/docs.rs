//! The documentation pages: the API reference, rendered from the OpenAPI document, and a page for each error code.

mod content;
mod curl;
mod error_pages;
mod layout;
mod markup;
mod reference;
mod routes;
mod schema_fields;

#[cfg(test)]
mod tests;

pub(crate) use content::Docs;
pub(crate) use routes::routes;
