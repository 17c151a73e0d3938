//! Database look-ups that fill the cache. They block.

use std::sync::Arc;

use sealpost_domain::{ApiKeyId, Handle, Session, TokenHash, ports::StoreError};
use sealpost_wallet::WalletError;

use super::cached_key::{CachedKey, KeyMaterial};
use crate::sealpost::core::Core;

impl Core {
    /// Loads sessions in one statement. Unknown tokens are not cached: an attacker sends a different one each time.
    pub(crate) fn load_sessions(
        &self,
        mut tokens: Vec<TokenHash>,
    ) -> Result<Vec<Session>, StoreError> {
        tokens.sort_unstable();
        tokens.dedup();
        let sessions = self.store.lookup()?.find_sessions(&tokens)?;
        for session in &sessions {
            self.cache.insert_session(session);
        }
        Ok(sessions)
    }

    /// Loads a key. Unknown keys are not cached.
    pub(crate) fn load_key(&self, id: &ApiKeyId) -> Result<Option<Arc<CachedKey>>, StoreError> {
        let Some(key) = self.store.lookup()?.find_key(id)? else { return Ok(None) };
        let key = Arc::new(CachedKey::new(key));
        self.cache.insert_key(*id, Arc::clone(&key));
        Ok(Some(key))
    }

    /// Loads the key that owns a handle.
    pub(crate) fn load_handle_owner(
        &self,
        handle: &Handle,
    ) -> Result<Option<ApiKeyId>, StoreError> {
        let owner = self.store.lookup()?.find_handle(handle)?;
        if let Some(owner) = owner {
            self.cache.insert_handle(handle.clone(), owner.api_key_id);
        }
        Ok(owner.map(|owner| owner.api_key_id))
    }

    /// Returns the secrets of a key, decrypted once per entry; `None` for a revoked key.
    pub(crate) fn material<'a>(
        &self,
        key: &'a CachedKey,
    ) -> Result<Option<&'a KeyMaterial>, WalletError> {
        key.material(&self.keyring, self.settings.suite)
    }
}
