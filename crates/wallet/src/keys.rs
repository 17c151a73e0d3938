//! Key-encryption keys and the secrets that are encrypted under them. Also identities: all keys of an identity are
//! derived from one random secret.

pub(crate) mod derivation;
mod identity;
mod kek_mark;
mod keyring;
mod locked_pool;
mod provider;
mod row_tags;
mod wrapping;

pub use identity::{Identity, Root};
pub use keyring::{Keyring, KeyringError};
pub use provider::{KekProvider, ProviderError};
pub use wrapping::kek_version;
pub(crate) use wrapping::{NONCE_LEN, StorageLocation, decrypt, encrypt};
