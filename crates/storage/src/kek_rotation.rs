//! Support for the rotation of key-encryption keys.

pub(crate) mod marks;
pub(crate) mod rewrap;
