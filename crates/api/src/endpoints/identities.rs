//! `/v1/did`: identities, and the policy of a key.

pub(super) mod identity;
pub(super) mod policy;
