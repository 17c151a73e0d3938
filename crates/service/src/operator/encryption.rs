//! Commands of operators for the encryption of stored data: key-encryption keys, re-encryption, and the service's own
//! signing keys.

pub(crate) mod encrypted_rows;
pub(crate) mod issuer_keys;
pub(crate) mod kek;
pub(crate) mod reencrypt;
