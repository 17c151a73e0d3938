//! Issuer keys: the service's own keys, for signatures of events and badges.

use crate::{IssuerKeyId, Timestamp, Wrapped};

/// One issuer key of the service. Issuer keys are never deleted, so old signatures can still be verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerKey {
    /// Public id of the issuer key, with the prefix `iss_`.
    pub id: IssuerKeyId,
    /// The Ed25519 public key (RFC 8032).
    pub public_key: [u8; 32],
    /// The private key, encrypted by the wallet crate.
    pub secret: Wrapped,
    /// Time at which the key was created.
    pub created_at: Timestamp,
    /// The time from which the service signs with this key. The public key is published earlier, so that verifiers know
    /// the key before they receive its first signature.
    pub signs_from: Timestamp,
}
