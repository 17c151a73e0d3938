//! Endpoints for the service as a whole.

pub(super) mod document;
pub(super) mod list_audit;
pub(super) mod stats;
