//! Tests of the rotation of key-encryption keys.

mod retag;
mod rewrap;
