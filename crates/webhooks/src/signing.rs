//! Signs requests to webhooks and verifies their signatures: Standard Webhooks 1.0.0.
//!
//! [`symmetric`] and [`asymmetric`] are the two signature versions. [`signed_request`] builds the request of one
//! attempt.

pub(crate) mod asymmetric;
pub(crate) mod did_document;
pub(crate) mod signed_request;
pub(crate) mod signing_keys;
pub(crate) mod symmetric;
pub(crate) mod verification;
pub(crate) mod verifying_key;
