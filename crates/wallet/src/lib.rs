//! The cryptography of Sealpost. All private keys stay inside this crate.
//!
//! - [`Keyring`]: the key-encryption keys. A stored secret is encrypted under a key-encryption key
//!   and bound to a row and a column.
//! - [`KekProvider`]: wraps key-encryption keys with a key outside the service.
//! - [`Root`]: 32 random bytes from which all keys of an identity are derived.
//! - [`Identity`]: the signing and sealing keys of a root. The public signing key is the DID.
//! - [`seal`] encrypts to the recipient's sealing key with HPKE (RFC 9180), and signs the result with
//!   the sender's Ed25519 key. [`open`] verifies and decrypts.
//! - [`ChannelSender`] and [`ChannelReceiver`]: seal and open many envelopes with one key encapsulation.
//! - [`IssuerSecret`]: the key for signatures by the service itself.
//! - [`SessionToken`], [`KeyToken`], [`LoginSecret`], [`RecoveryCode`] and [`WebhookSecret`]: secrets
//!   that leave the service, shown once.
//! - [`PasswordHash`]: the Argon2id hash of the password of an operator.
//!
//! The crate is synchronous and does no I/O. The only external input is the system's random source. Secrets are
//! zeroized on drop and never appear in `Debug` output. `examples/identities.rs` shows the use.

mod entropy;
mod error;
mod keys;
mod part_list;
mod sealing;
mod secrets;
mod signing;

pub use entropy::random;
pub use error::WalletError;
pub use keys::{Identity, KekProvider, Keyring, KeyringError, ProviderError, Root, kek_version};
pub use part_list::{chain_hash, keyed_hash};
pub use sealing::{
    ChannelDraft, ChannelReceiver, ChannelSender, EnvelopeDraft, SealingPublicKey, channel_of,
    open, seal,
};
pub use secrets::{
    FormId, InviteSecret, KeyToken, LoginSecret, PasswordHash, PasswordHashError, RecoveryCode,
    SessionToken, WebhookSecret, open_form_result, same_hash, seal_form_result,
};
pub use signing::{
    IssuerPublicKey, IssuerSecret, encode_status_list, public_key_of, verify_credential,
};
