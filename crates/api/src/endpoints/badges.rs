//! `/v1/badges`, `/v1/compliance`, and the public documents that verifiers of a badge fetch.

pub(super) mod did_document;
pub(super) mod issue;
pub(super) mod status_list;
pub(super) mod validate_compliance;
pub(super) mod verify;
