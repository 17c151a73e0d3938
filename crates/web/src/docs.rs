//! The documentation pages: the guides, the API reference, and a page for each error code. The API reference is
//! rendered from the OpenAPI document.

mod access;
mod content;
mod curl;
mod error_pages;
mod guides;
mod highlight;
mod layout;
mod llms;
mod markup;
mod operation;
mod reference;
mod routes;
mod schema_fields;
mod search;
mod snippets;

#[cfg(test)]
mod tests;

pub(crate) use content::Docs;
pub(crate) use highlight::html as highlighted;
pub(crate) use routes::routes;
