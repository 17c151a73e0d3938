//! `/v1/channel`: sealed envelopes.

pub(super) mod open;
pub(super) mod send;
