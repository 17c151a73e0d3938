//! The service's own keys, by which it signs in its own name: notices and credentials.

use crate::{IssuerKeyId, Timestamp, Wrapped};

/// One issuer key. None is ever deleted: what an old one signed still has to verify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerKey {
    /// Its id.
    pub id: IssuerKeyId,
    /// The Ed25519 public key.
    pub public_key: [u8; 32],
    /// The private key, encrypted by the wallet.
    pub secret: Wrapped,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it signs. It is published before, so that whoever meets its signature can find it.
    pub signs_from: Timestamp,
}
