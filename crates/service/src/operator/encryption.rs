//! Commands of operators for stored encryption: key-encryption keys, re-encryption, and the issuer's keys.

pub(crate) mod encrypted_rows;
pub(crate) mod issuer_keys;
pub(crate) mod kek;
pub(crate) mod reencrypt;
