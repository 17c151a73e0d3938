//! The service's own keys: signing, publication in the DID document, and refreshing after a rotation.

pub(crate) mod did_document;
pub(crate) mod refresher;
pub(crate) mod signer;
