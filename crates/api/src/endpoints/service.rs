//! Endpoints about the service itself: a liveness check, the OpenAPI document, and the files of the transparency log.

pub(super) mod document;
pub(super) mod log;
pub(super) mod ping;
