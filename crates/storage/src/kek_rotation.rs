//! Rotation of key-encryption keys.

pub(crate) mod marks;
pub(crate) mod rewrap;
