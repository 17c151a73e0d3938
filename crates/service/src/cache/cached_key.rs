//! The cache entry of an API key: its account, and its decrypted secrets once a request needs them.

use std::sync::OnceLock;

use sealpost_domain::{AccountId, ApiKey, ApiKeyId, Did, OwnedKey, Suite, Wrapped};
use sealpost_wallet::{Identity, Keyring, Root, SealingPublicKey, WalletError};

/// An API key as it was read from the database.
pub(crate) struct CachedKey {
    pub(crate) account_id: AccountId,
    pub(crate) id: ApiKeyId,
    /// The stored DID. When the secrets are decrypted, the DID derived from them must be the same.
    did: Did,
    pub(super) sealing_version: u32,
    /// The encrypted root: the secret from which all keys of the identity are derived. `None` if the key is revoked. A
    /// cached `None` cannot become outdated, because a revocation is permanent.
    root: Option<Wrapped>,
    /// The decrypted secrets. Empty until the first use, because most requests only need the account of the key.
    material: OnceLock<KeyMaterial>,
}

/// The decrypted secrets of an API key. Zeroized on drop.
pub(crate) struct KeyMaterial {
    pub(crate) identity: Identity,
    pub(crate) sealing_key: SealingPublicKey,
}

impl CachedKey {
    pub(super) fn new(key: ApiKey) -> Self {
        Self {
            account_id: key.account_id,
            id: key.id,
            did: key.did,
            sealing_version: key.sealing_version,
            root: key.root,
            material: OnceLock::new(),
        }
    }

    /// Returns the decrypted secrets, or `None` for a revoked key. Fails if the DID that is derived from the secrets
    /// differs from the stored DID.
    pub(crate) fn material(
        &self,
        keyring: &Keyring,
        suite: Suite,
    ) -> Result<Option<&KeyMaterial>, WalletError> {
        let Some(wrapped) = &self.root else { return Ok(None) };
        if let Some(material) = self.material.get() {
            return Ok(Some(material));
        }
        let owned = OwnedKey { id: self.id, account_id: self.account_id };
        let identity = Identity::new(Root::unwrap(keyring, &owned, wrapped)?)?;
        if identity.did() != self.did {
            return Err(WalletError::DidMismatch);
        }
        let sealing_key = identity.sealing_public_key(suite, self.sealing_version)?;
        Ok(Some(self.material.get_or_init(|| KeyMaterial { identity, sealing_key })))
    }

    /// Returns true if the key has a root, the secret of its identity. A revoked key has no root.
    pub(crate) fn has_root(&self) -> bool {
        self.root.is_some()
    }
}
