//! Storage for the rotation of key-encryption keys: marks of the key versions, and replacement of encrypted secrets.

pub(crate) mod marks;
pub(crate) mod rewrap;
