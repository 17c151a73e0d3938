//! What the wallet can fail with. Coarse on purpose: whoever tampers learns that it was noticed, not where.

/// Why the wallet refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WalletError {
    /// The channel has sealed as many envelopes as it may: begin another.
    #[error("the channel has sealed all that it may")]
    ChannelExhausted,
    /// No `did:key` of an Ed25519 key in its one canonical form.
    #[error("this is no did:key of an Ed25519 key")]
    InvalidDid,
    /// No `whsec_` and base64 of 24 to 64 bytes.
    #[error("a webhook secret is whsec_ and the base64 of 24 to 64 bytes")]
    InvalidWebhookSecret,
    /// The system has no random bytes to give; nothing was made.
    #[error("the system's random source gives nothing")]
    NoRandomness,
    /// The key-encryption key is another one than it was, or the blob or its place were changed.
    #[error("the stored secret cannot be decrypted with this key-encryption key")]
    NotDecryptable,
    /// Key derivation failed.
    #[error("the key cannot be derived")]
    NotDerivable,
    /// Something cannot be written in the form that its standard wants.
    #[error("this cannot be encoded")]
    NotEncodable,
    /// Something about the envelope does not hold: bytes, metadata, signature, or whose it is. Which, is not told.
    #[error("the envelope cannot be opened")]
    NotOpenable,
    /// Encryption failed; nothing of the plaintext is left behind.
    #[error("the message cannot be sealed")]
    NotSealable,
    /// The stored blob is in no format that this version knows.
    #[error("the stored secret is in an unknown format")]
    UnknownFormat,
    /// The keyring lacks the key-encryption key of this version.
    #[error("there is no key-encryption key of version {version}")]
    UnknownKekVersion {
        /// The version that is asked for.
        version: u32,
    },
}
