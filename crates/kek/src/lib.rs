//! Key providers. Key-encryption keys encrypt the secrets in the database of Sealpost. A provider wraps (encrypts)
//! these keys with a key of its own, and Sealpost stores the wrapped keys in the database. [`ProviderName`] is the
//! setting that selects a provider:
//!
//! ```
//! let name: sealpost_kek::ProviderName = "exec:/usr/local/bin/sealpost-kek".parse()?;
//! assert_eq!(name.to_string(), "exec:/usr/local/bin/sealpost-kek");
//! # Ok::<(), sealpost_kek::NameError>(())
//! ```

mod aws_kms;
mod exec;
mod key_service;
mod name;
mod pkcs11;
pub mod quorum;
mod sigv4;
mod vault;

pub use name::{NameError, ProviderName};
use zeroize::Zeroizing;

/// Copies the bytes of a key-encryption key. `None` if `bytes` has another length than 32.
fn key_of(bytes: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    if bytes.len() != key.len() {
        return None;
    }
    key.copy_from_slice(bytes);
    Some(key)
}
