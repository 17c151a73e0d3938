//! The service's own keys, which sign events and credentials: signing, publication, and loading after a rotation.

pub(crate) mod did_document;
pub(crate) mod signer;
