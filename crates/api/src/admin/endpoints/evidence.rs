//! Operator endpoints for badges and their evidence: assessments and attestations.

pub(super) mod assess;
pub(super) mod attest;
pub(super) mod revoke_badge;
