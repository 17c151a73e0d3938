//! Reads keys, handles and bearer tokens into the cache. Functions that are not async block the thread.

use std::{collections::HashMap, sync::Arc};

use sealpost_domain::{ApiKey, ApiKeyId, Did, Handle, Refusal, ports::StoreError};
use sealpost_wallet::{Identity, Root, WalletError};

use super::{
    cached_key::{CachedKey, KeyMaterial},
    key_cache::CacheEvent,
};
use crate::{
    caller::{
        admission::{Limited, Limits},
        bearer::{Bearer, BearerHash},
        credentials::CallerId,
    },
    error::Error,
    sealpost::core::Core,
};

impl Core {
    /// Loads sessions and API tokens, in one statement for each kind, and caches them. The result omits unknown tokens.
    /// Unknown tokens are not cached, because an attacker sends a different one each time.
    pub(crate) fn load_bearers(
        &self,
        tokens: &[BearerHash],
    ) -> Result<HashMap<BearerHash, Bearer>, StoreError> {
        let (sessions, api_tokens) = BearerHash::by_kind(tokens);
        let mut bearers = HashMap::new();
        if !sessions.is_empty() {
            let found = self.store.read(|reader| reader.find_sessions(&sessions))?.into_iter();
            bearers.extend(found.map(|it| (BearerHash::Session(it.token), Bearer::from(it))));
        }
        if !api_tokens.is_empty() {
            let found = self.store.read(|reader| reader.find_api_tokens(&api_tokens))?.into_iter();
            bearers.extend(found.map(|it| (BearerHash::ApiToken(it.token), Bearer::from(it))));
        }
        for bearer in bearers.values_mut() {
            self.cache.insert_bearer(bearer);
        }
        Ok(bearers)
    }

    /// Returns a key, from the cache if possible. Returns `None` if the key does not exist.
    pub(crate) async fn cached_key(
        self: &Arc<Self>,
        id: ApiKeyId,
    ) -> Result<Option<Arc<CachedKey>>, Error> {
        match self.cache.key(&id) {
            Some(key) => Ok(Some(key)),
            None => self.look_up(id).await,
        }
    }

    /// Loads keys in one statement, and caches them. The result omits unknown keys, which are not cached.
    pub(crate) fn load_keys(
        &self,
        ids: &[ApiKeyId],
    ) -> Result<HashMap<ApiKeyId, Arc<CachedKey>>, StoreError> {
        let keys = self.store.read(|reader| reader.find_keys(ids))?.into_iter();
        let keys: HashMap<_, _> = keys.map(|key| (key.id, Arc::new(CachedKey::new(key)))).collect();
        for (id, key) in &keys {
            self.cache.insert_key(*id, Arc::clone(key));
        }
        Ok(keys)
    }

    /// Loads the id of the key that owns a handle, and caches the id. Returns `None` for an unknown handle, which is
    /// not cached.
    pub(crate) fn load_handle_owner(
        &self,
        handle: &Handle,
    ) -> Result<Option<ApiKeyId>, StoreError> {
        let owner = self.store.read(|reader| reader.find_handle(handle))?;
        if let Some(owner) = owner {
            self.cache.insert_handle(handle.clone(), owner.api_key_id);
        }
        Ok(owner.map(|owner| owner.api_key_id))
    }

    /// Returns the decrypted secrets of a key, or `None` for a revoked key. Decrypts the secrets at the first call and
    /// keeps them in the cache entry. Fails if the secrets do not belong to the stored DID of the key.
    pub(crate) fn material<'a>(
        &self,
        key: &'a CachedKey,
    ) -> Result<Option<&'a KeyMaterial>, WalletError> {
        key.material(&self.keyring, self.settings.suite)
            .inspect_err(|error| self.report_mismatch(&key.id, *error))
    }

    /// Returns the DID of a key. Derives it from the root, the secret of the identity, to prove that the stored DID is
    /// correct, and fails if the stored DID differs. A revoked key has no root, so its stored DID is returned.
    pub(crate) fn proven_did(&self, key: &ApiKey) -> Result<Did, WalletError> {
        let Some(root) = &key.root else { return Ok(key.did.clone()) };
        let cached = self.cache.key(&key.id);
        let derived = match cached.as_ref().map(|cached| self.material(cached)).transpose()? {
            Some(Some(material)) => material.identity.did(),
            Some(None) | None => {
                Identity::new(Root::unwrap(&self.keyring, &key.into(), root)?)?.did()
            }
        };
        if derived == key.did {
            return Ok(derived);
        }
        self.report_mismatch(&key.id, WalletError::DidMismatch);
        Err(WalletError::DidMismatch)
    }

    /// If `error` is [`WalletError::DidMismatch`], logs it, and removes the key from the cache so that a repaired row
    /// is read again. Ignores other errors.
    fn report_mismatch(&self, key: &ApiKeyId, error: WalletError) {
        if error == WalletError::DidMismatch {
            tracing::error!(api_key.id = %key, "the stored DID of the key differs from its root");
            self.cache.invalidate_on(CacheEvent::KeyUnusable(key));
        }
    }

    /// Finds the keys that another node or an operator has changed: compares the cached keys that have secrets with the
    /// database, and removes outdated data. Blocks the thread.
    pub(crate) fn review_keys(&self) -> Result<(), StoreError> {
        for page in self.cache.keys_with_secrets().chunks(PAGE) {
            // Each page holds a database connection only briefly, because requests that send messages need connections
            // of the same pool.
            let snapshots = self.store.read(|reader| reader.find_key_snapshots(page))?;
            for snapshot in &snapshots {
                self.cache.invalidate_on(CacheEvent::KeyReviewed(snapshot));
            }
        }
        Ok(())
    }

    /// Updates the cache after a transaction has refused a request. Removes data that the refusal proves wrong, and
    /// caches a rate-limit refusal.
    pub(crate) fn cache_refusal(
        &self,
        caller: &CallerId,
        recipient: Option<&ApiKeyId>,
        refusal: &Refusal,
        limits: Option<Limits>,
    ) {
        if let Some(event) = CacheEvent::from_refusal(caller, recipient, refusal) {
            self.cache.invalidate_on(event);
        }
        if let Some(limits) = limits {
            self.cache.rate_limits.insert(*caller, refusal, limits);
        }
    }

    /// Returns the cached refusal if the caller has reached a rate limit. Otherwise returns `None`.
    pub(crate) fn cached_rate_limit<T>(&self, caller: &CallerId) -> Option<Limited<T>> {
        let (refusal, limits) = self.cache.rate_limits.get(caller, &*self.clock)?;
        Some(Limited { result: Err(refusal.into()), limits: Some(limits) })
    }
}

const PAGE: usize = 512;
