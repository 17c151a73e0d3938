//! Rotation of key-encryption keys.

mod rewrap;
