//! Errors of cryptographic operations. The errors are coarse on purpose: an attacker learns that tampering was
//! detected, but not where.

/// The reason why a cryptographic operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WalletError {
    /// The channel has sealed its maximum number of envelopes. Begin another channel.
    #[error("the channel has sealed its maximum number of envelopes: begin another channel")]
    ChannelExhausted,
    /// The stored DID of a key differs from the DID that is derived from the key's root. The database row was changed.
    #[error("the stored DID of the key differs from its root: restore the row")]
    DidMismatch,
    /// The text is not a canonical `did:key` of an Ed25519 key.
    #[error("not a canonical did:key of an Ed25519 key")]
    InvalidDid,
    /// The text is not `whsec_` and the base64 of 24 to 64 bytes.
    #[error("a webhook secret must be whsec_ and the base64 of 24 to 64 bytes")]
    InvalidWebhookSecret,
    /// The system's random source failed. Nothing was created.
    #[error("the system's random source failed")]
    NoRandomness,
    /// A stored secret does not decrypt. The key-encryption key was replaced, the stored bytes were changed, or they
    /// were moved to another row or column.
    #[error(
        "the stored secret does not decrypt under its key-encryption key: restore the original key file or row"
    )]
    NotDecryptable,
    /// A key could not be derived, or a MAC or a password hash could not be computed.
    #[error("key derivation failed")]
    NotDerivable,
    /// A credential cannot be serialized as JSON, or the position of a badge is outside its list of revoked badges.
    #[error("the value cannot be encoded")]
    NotEncodable,
    /// The hash, the metadata, the signature, the sender or the recipient of the envelope is wrong. The error does not
    /// reveal which of these is wrong.
    #[error("the envelope is invalid or addressed to another key")]
    NotOpenable,
    /// Encryption or signing failed. Also returned if a channel does not support the recipient's key, or if an envelope
    /// names another sender or recipient than its channel.
    #[error("encryption failed")]
    NotSealable,
    /// The stored secret has an unknown format.
    #[error("the stored secret has an unknown format: a newer version may have written it")]
    UnknownFormat,
    /// The keyring has no key-encryption key of this version.
    #[error("the key file lacks key-encryption key version {version}: restore it")]
    UnknownKekVersion {
        /// The requested version.
        version: u32,
    },
}
