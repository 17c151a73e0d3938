//! Endpoints for assessments, attestations and badges.

pub(super) mod assess;
pub(super) mod attest;
pub(super) mod revoke_badge;
