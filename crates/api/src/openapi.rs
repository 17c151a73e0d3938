//! Generates the OpenAPI 3.1 document from the code. Paths come from the table of endpoints, schemas from the
//! serialised types, and error responses from the error codes. Each endpoint describes itself with an [`Operation`].

mod document;
mod document_head;
mod event;
mod operation;
mod parts;
mod responses;
mod schemas;

#[cfg(test)]
mod tests;

pub(crate) use document::document;
pub(crate) use document_head::DocumentHead;
pub(crate) use operation::{Operation, Tag};
pub(crate) use parts::{drop_unused_components, with_members};
