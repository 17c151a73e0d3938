//! Stores the versions of the key-encryption key, which encrypts the stored secrets. For a rotation of this key, also
//! replaces the encrypted secrets and the tags (authentication codes) of rows.

pub(crate) mod kek_versions;
pub(crate) mod retag;
pub(crate) mod rewrap;
