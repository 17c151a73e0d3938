//! Issuer keys: the keys with which the service signs events and credentials in its own name.

use crate::{IssuerKeyId, Timestamp, Wrapped};

/// One issuer key. Issuer keys are never deleted, so that old signatures can still be verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerKey {
    /// Public id, prefix `iss_`.
    pub id: IssuerKeyId,
    /// The Ed25519 public key (RFC 8032).
    pub public_key: [u8; 32],
    /// The private key, encrypted by the wallet.
    pub secret: Wrapped,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time from which the service signs with this key. The public key is published earlier, so that verifiers find it
    /// in time.
    pub signs_from: Timestamp,
}
