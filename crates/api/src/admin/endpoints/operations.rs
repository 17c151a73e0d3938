//! Operator endpoints for the service as a whole: audit trail, statistics and OpenAPI document.

pub(super) mod document;
pub(super) mod list_audit;
pub(super) mod stats;
