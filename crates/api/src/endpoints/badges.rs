//! Endpoints for badges (signed credentials about an API key), for compliance checks, and for the public documents that
//! a verifier of a badge fetches.

pub(super) mod did_document;
pub(super) mod issue;
pub(super) mod status_list;
pub(super) mod validate_compliance;
pub(super) mod verify;
