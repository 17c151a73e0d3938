//! All of Sealpost's cryptography. Callers of the service never touch a key; this crate is where the keys are.
//!
//! - [`Keyring`]: the key-encryption keys that every stored secret is encrypted under, bound to its row and column.
//! - [`Root`] and [`Identity`]: 32 random bytes, and the signing and sealing keys derived from them. The signing
//!   key's public half is the identity's DID.
//! - [`seal`] and [`open`]: HPKE to the recipient's sealing key, and the sender's signature over the result.
//! - [`ChannelSender`] and [`ChannelReceiver`]: one encapsulation for many envelopes.
//! - [`IssuerSecret`]: what the service signs with in its own name.
//! - [`SessionToken`], [`LoginSecret`] and [`WebhookSecret`]: secrets that leave the service, shown once.
//!
//! Pure and synchronous; the system's random source is the only thing outside that it asks. Secrets are wiped when
//! dropped and never appear in `Debug`. `examples/identities.rs` shows the whole of it.

mod binding;
mod chain;
mod channel;
mod derivation;
mod did;
mod entropy;
mod error;
mod identity;
mod issuer;
mod jws;
mod keyring;
mod sealing;
mod signature;
mod status_list;
mod suite;
mod token;
mod webhook_secret;
mod wrapping;

#[cfg(test)]
mod vectors;

pub use chain::chain_hash;
pub use channel::{ChannelDraft, ChannelReceiver, ChannelSender, channel_of};
pub use did::public_key_of;
pub use entropy::random;
pub use error::WalletError;
pub use identity::{Identity, Root};
pub use issuer::{IssuerPublicKey, IssuerSecret};
pub use jws::verify_credential;
pub use keyring::{Keyring, KeyringFault};
pub use sealing::{EnvelopeDraft, open, seal};
pub use status_list::encode_status_list;
pub use suite::SealingPublicKey;
pub use token::{LoginSecret, SessionToken, same_hash};
pub use webhook_secret::WebhookSecret;
pub use wrapping::kek_version;
