//! `/v1/channel`: sealed envelopes.

pub(super) mod open;
pub(super) mod receipt;
pub(super) mod send;
