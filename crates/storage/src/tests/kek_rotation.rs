//! Tests of the rotation of key-encryption keys.

mod rewrap;
