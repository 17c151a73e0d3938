//! The caller of a request: its credentials, their authentication, the rate limits, and the transaction that runs the
//! request.

pub(crate) mod admission;
pub(crate) mod authenticate;
pub(crate) mod bearer;
pub(crate) mod bearer_uses;
pub(crate) mod credentials;
pub(crate) mod lookup_queue;
pub(crate) mod lookups;
pub(crate) mod transaction;
