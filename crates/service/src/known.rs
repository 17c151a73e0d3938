//! What the send path remembers between requests: key material, which never changes for a version, and hints
//! that the committing transaction checks again. Bounded; plaintext keys are wiped when they leave.

use std::sync::Arc;

use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Handle, KeyStatus, Refusal, Session, TokenHash,
    ports::{KeySnapshot, StoreError},
};
use sealpost_wallet::{Identity, Root, SealingPublicKey, WalletError};

use crate::{
    Error, Settings,
    cache::Cache,
    credentials::{Caller, NO_SESSION},
    figures::CacheFigures,
    hammering::Refused,
    sealpost::Core,
};

/// A key as the send path needs it.
pub(crate) struct KnownKey {
    pub(crate) account_id: AccountId,
    /// `None` once the key is revoked, which is final.
    pub(crate) material: Option<Material>,
}

/// The secrets of a key that is not revoked.
pub(crate) struct Material {
    pub(crate) identity: Identity,
    pub(crate) sealing_key: SealingPublicKey,
    pub(crate) sealing_version: u32,
}

pub(crate) struct Known {
    keys: Cache<ApiKeyId, Arc<KnownKey>>,
    handles: Cache<Handle, ApiKeyId>,
    sessions: Cache<TokenHash, Session>,
    refused: Cache<Caller, Refused>,
    key_figures: CacheFigures,
    handle_figures: CacheFigures,
    session_figures: CacheFigures,
}

impl Known {
    pub(crate) fn new(settings: &Settings) -> Self {
        let hints = settings.hints_cached_max;
        Self {
            keys: Cache::new(settings.identities_cached_max),
            handles: Cache::new(hints),
            sessions: Cache::new(hints),
            refused: Cache::new(hints),
            key_figures: CacheFigures::new("keys"),
            handle_figures: CacheFigures::new("handles"),
            session_figures: CacheFigures::new("sessions"),
        }
    }

    pub(crate) fn entries(&self) -> [(&'static str, usize); 4] {
        [
            ("handles", self.handles.len()),
            ("keys", self.keys.len()),
            ("refused", self.refused.len()),
            ("sessions", self.sessions.len()),
        ]
    }

    /// Forgets what nobody has asked for since the last time that this was done.
    pub(crate) fn forget_unused(&self) {
        self.keys.forget_unused();
        self.handles.forget_unused();
        self.sessions.forget_unused();
        self.refused.forget_unused();
    }

    pub(crate) fn session(&self, token: &TokenHash) -> Option<Session> {
        self.session_figures.count(self.sessions.get(token))
    }

    pub(crate) fn key(&self, id: &ApiKeyId) -> Option<Arc<KnownKey>> {
        self.key_figures.count(self.keys.get(id))
    }

    pub(crate) fn handle(&self, handle: &Handle) -> Option<ApiKeyId> {
        self.handle_figures.count(self.handles.get(handle))
    }

    pub(crate) fn refused(&self, caller: &Caller) -> Option<Refused> {
        self.refused.get(caller)
    }

    pub(crate) fn remember_refused(&self, caller: Caller, refused: Refused) {
        self.refused.insert(caller, refused);
    }

    pub(crate) fn forget_session(&self, token: &TokenHash) {
        self.sessions.forget(token);
    }

    pub(crate) fn forget_sessions_of(&self, account: &AccountId) {
        self.sessions.forget_where(|_, session| session.account_id == *account);
    }

    /// For when something else than a limit refuses the key from now on.
    pub(crate) fn forget_refusals_of(&self, key: &ApiKeyId) {
        self.refused.forget_where(|caller, _| caller.key == *key);
    }

    /// Forgets what a transaction refused although memory would not have: a session that has ended, from now on a matter
    /// of a look-up; and the secrets of a revoked key, which would stay for as long as anybody names it.
    pub(crate) fn heed(&self, caller: &Caller, recipient: Option<&ApiKeyId>, refusal: &Refusal) {
        match refusal {
            refusal if *refusal == NO_SESSION => self.forget_session(&caller.session),
            Refusal::KeyInactive { status: KeyStatus::Revoked, field: None } => {
                self.forget_secrets(&caller.key);
            }
            Refusal::KeyInactive { status: KeyStatus::Revoked, field: Some(_) } => {
                if let Some(key) = recipient {
                    self.forget_secrets(key);
                }
            }
            _ => {}
        }
    }

    /// Forgets the secrets of a key that is revoked by now, and a key whose sealing key is another by now.
    pub(crate) fn heed_state(&self, state: &KeySnapshot) {
        self.keys.forget_if(&state.id, |known| {
            known.material.as_ref().is_some_and(|material| {
                state.status == KeyStatus::Revoked
                    || material.sealing_version != state.sealing_version
            })
        });
    }

    /// Whose secrets are in memory.
    pub(crate) fn with_secrets(&self) -> Vec<ApiKeyId> {
        self.keys.names_where(|_, known| known.material.is_some())
    }

    /// That a key has none is worth remembering.
    pub(crate) fn forget_secrets(&self, key: &ApiKeyId) {
        self.keys.forget_if(key, |known| known.material.is_some());
    }

    /// Drops what a transaction found out of date.
    pub(crate) fn forget_recipient(&self, id: &ApiKeyId, handle: Option<&Handle>) {
        self.keys.forget(id);
        if let Some(handle) = handle {
            self.handles.forget(handle);
        }
    }
}

/// Look-ups in the store that fill the memory. They block.
impl Core {
    /// By one statement, however many there are.
    pub(crate) fn learn_sessions(
        &self,
        mut tokens: Vec<TokenHash>,
    ) -> Result<Vec<Session>, StoreError> {
        tokens.sort_unstable();
        tokens.dedup();
        let sessions = self.store.lookup()?.find_sessions(&tokens)?;
        for session in &sessions {
            self.known.sessions.insert(session.token, session.clone());
        }
        Ok(sessions)
    }

    pub(crate) fn learn_key(&self, id: &ApiKeyId) -> Result<Option<Arc<KnownKey>>, Error> {
        let Some(key) = self.store.lookup()?.find_key(id)? else { return Ok(None) };
        let known = Arc::new(self.unwrap_key(&key)?);
        self.known.keys.insert(*id, Arc::clone(&known));
        Ok(Some(known))
    }

    pub(crate) fn learn_handle(&self, handle: &Handle) -> Result<Option<ApiKeyId>, StoreError> {
        let owner = self.store.lookup()?.find_handle(handle)?;
        if let Some(owner) = owner {
            self.known.handles.insert(handle.clone(), owner.api_key_id);
        }
        Ok(owner.map(|owner| owner.api_key_id))
    }

    fn unwrap_key(&self, key: &ApiKey) -> Result<KnownKey, WalletError> {
        let material = match &key.root {
            None => None,
            Some(wrapped) => {
                let root = Root::unwrap(&self.keyring, &key.id, wrapped)?;
                let identity = Identity::new(root)?;
                let version = key.sealing_version;
                let sealing_key = identity.sealing_public_key(self.settings.suite, version)?;
                Some(Material { identity, sealing_key, sealing_version: version })
            }
        };
        Ok(KnownKey { account_id: key.account_id, material })
    }
}
