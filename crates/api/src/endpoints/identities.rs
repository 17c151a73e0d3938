//! `/v1/did`: identities, one for each API key.

pub(super) mod activate;
pub(super) mod policy;
pub(super) mod resolve;
pub(super) mod status;
