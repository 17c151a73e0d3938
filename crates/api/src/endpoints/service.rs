//! Endpoints about the service itself: a liveness check, and the OpenAPI document.

pub(super) mod document;
pub(super) mod log;
pub(super) mod ping;
