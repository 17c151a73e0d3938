//! Generates the OpenAPI 3.1 document from the code: paths from the table of endpoints, schemas from the serialized
//! types, error responses from the table of codes. Each endpoint writes its own [`Operation`].

mod document;
mod event;
mod operation;
mod parts;
mod responses;
mod schemas;

#[cfg(test)]
mod tests;

pub(crate) use document::document;
pub(crate) use operation::{Operation, Tag};
