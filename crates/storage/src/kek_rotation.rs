//! Stores the versions of the key-encryption key: the wrapped keys of providers, and marks that show whether a key
//! matches the database. For a rotation of the key, also replaces encrypted secrets and the tags of rows.

pub(crate) mod kek_versions;
pub(crate) mod retag;
pub(crate) mod rewrap;
