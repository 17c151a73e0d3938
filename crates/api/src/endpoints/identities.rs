//! The endpoints `/v1/did/…`: create identities and show their status. An identity is an API key with its DID.

pub(super) mod activate;
pub(super) mod policy;
pub(super) mod resolve;
pub(super) mod status;
