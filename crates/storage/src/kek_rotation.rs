//! Storage for the rotation of key-encryption keys: marks that identify the versions of the key, keys that
//! a provider has wrapped, and replacement of encrypted secrets.

pub(crate) mod kek_versions;
pub(crate) mod retag;
pub(crate) mod rewrap;
