//! The interface to key providers. A provider wraps (encrypts) key-encryption keys with a key that never leaves the
//! provider.

use std::fmt;

use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::keyring::Keyring;
use crate::{WalletError, random};

/// Wraps and unwraps key-encryption keys. All methods block the thread, for a limited time.
pub trait KekProvider: fmt::Debug + Send + Sync {
    /// Names the provider and its key, without secrets. Each wrapped key is stored with this name.
    fn describe(&self) -> String;

    /// Wraps a key-encryption key.
    fn wrap(&self, key: &[u8; 32]) -> Result<Vec<u8>, ProviderError>;

    /// Unwraps a key-encryption key.
    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, ProviderError>;

    /// Checks that the provider wraps and unwraps: wraps a random key, unwraps the result, and compares the two keys.
    fn check(&self) -> Result<(), ProviderError> {
        let key = Zeroizing::new(random()?);
        wrap_checked(self, &key).map(drop)
    }
}

/// The reason why a key provider did not wrap or unwrap a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The provider refuses the use of its key.
    #[error("the key provider refuses: {reason}")]
    Refused {
        /// The reason, without secrets.
        reason: String,
    },
    /// The provider does not respond, or its response is unusable.
    #[error("the key provider cannot be used: {reason}")]
    Unreachable {
        /// The reason, without secrets.
        reason: String,
    },
    /// A key is missing or cannot be generated.
    #[error(transparent)]
    Wallet(#[from] WalletError),
}

impl Keyring {
    /// Returns a keyring with one new random key-encryption key, which has this version.
    pub fn generate(version: u32) -> Result<Self, WalletError> {
        Ok(Self::from_keys([(version, Zeroizing::new(random()?))]))
    }

    /// Wraps the key of this version. Then unwraps the result, and fails with [`ProviderError::Unreachable`] if the
    /// unwrapped key differs.
    pub fn wrap_with(
        &self,
        provider: &dyn KekProvider,
        version: u32,
    ) -> Result<Vec<u8>, ProviderError> {
        wrap_checked(provider, &*self.require(version)?)
    }

    /// Unwraps keys, and returns a keyring of these keys. Each wrapped key is given with its version.
    pub fn unwrap_with(
        provider: &dyn KekProvider,
        wrapped: &[(u32, &[u8])],
    ) -> Result<Self, ProviderError> {
        let keys = wrapped
            .iter()
            .map(|(version, wrapped)| Ok((*version, provider.unwrap(wrapped)?)))
            .collect::<Result<Vec<_>, ProviderError>>()?;
        Ok(Self::from_keys(keys))
    }
}

fn wrap_checked<P: KekProvider + ?Sized>(
    provider: &P,
    key: &[u8; 32],
) -> Result<Vec<u8>, ProviderError> {
    let wrapped = provider.wrap(key)?;
    if bool::from(provider.unwrap(&wrapped)?.ct_eq(key)) {
        return Ok(wrapped);
    }
    let reason = "it unwraps to another key than it has wrapped".to_owned();
    Err(ProviderError::Unreachable { reason })
}
