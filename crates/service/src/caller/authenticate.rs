//! Authentication of requests. No other code resolves credentials.
//!
//! Checks the session, the key, and that the account of the session owns the key, in the order of the API contract. The
//! function [`admit`](super::admission::admit) later repeats these checks on locked rows, and then checks key state,
//! governance and limits.

use std::sync::Arc;

use sealpost_domain::{AccountId, ApiKeyId, Refusal, Session, TokenHash};

use super::{
    authenticated::{AccountSession, Caller},
    credentials::{CallerId, Credentials, FOREIGN_KEY, NO_SESSION, hash_token},
};
use crate::{
    cache::{cached_key::CachedKey, event::CacheEvent},
    error::Error,
    sealpost::Sealpost,
};

impl Sealpost {
    /// Authenticates a request that acts as an API key.
    ///
    /// Accepts cached data, because the transaction of each request checks again. Refuses unknown sessions and keys of
    /// other accounts without a transaction, so callers of other accounts never lock rows of a key. A refusal that is
    /// about the key is returned only after the session is read from the database. Otherwise, the holder of an ended
    /// session could find out which keys exist.
    pub async fn authenticate(&self, credentials: &Credentials) -> Result<Caller, Error> {
        let token = hash_token(credentials.token.as_deref())?;
        let key_id = match credentials.key_id() {
            Ok(key_id) => key_id,
            Err(refusal) => return self.refuse_session(token, refusal).await,
        };
        let account_id = self.session_account(token).await?;
        let Some(key) = self.cached_key(key_id).await? else {
            return self.refuse_session(token, Refusal::KeyNotFound { field: None }).await;
        };
        if key.account_id != account_id {
            return Err(FOREIGN_KEY.into());
        }
        Ok(Caller { id: CallerId { session: token, key: key_id }, account_id, key })
    }

    /// Authenticates a request that needs a session but no key. Always reads the session from the database.
    pub async fn authenticate_session(&self, token: Option<&str>) -> Result<AccountSession, Error> {
        let token = hash_token(token)?;
        Ok(AccountSession { token, account_id: self.stored_account(token).await? })
    }

    /// Returns the account of a session, from the cache if possible.
    ///
    /// A cached session may have ended, so the result may only be used for limits per account. Call
    /// [`Sealpost::authenticate_session`] to authenticate a request.
    pub async fn account_of(&self, token: Option<&str>) -> Result<AccountId, Error> {
        self.session_account(hash_token(token)?).await
    }

    /// Returns a key, from the cache if possible. Returns `None` if the key does not exist.
    pub(crate) async fn cached_key(&self, id: ApiKeyId) -> Result<Option<Arc<CachedKey>>, Error> {
        match self.core.cache.key(&id) {
            Some(key) => Ok(Some(key)),
            None => self.block(move |core| Ok(core.load_key(&id)?)).await,
        }
    }

    /// Returns `refusal` if the session is valid, and otherwise the refusal for an invalid session. So a caller without
    /// a valid session cannot find out if a key exists.
    async fn refuse_session(&self, token: TokenHash, refusal: Refusal) -> Result<Caller, Error> {
        self.stored_account(token).await?;
        Err(refusal.into())
    }

    async fn session_account(&self, token: TokenHash) -> Result<AccountId, Error> {
        match self.core.cache.session(&token) {
            Some(session) => self.live_account(Some(session)),
            None => self.stored_account(token).await,
        }
    }

    async fn stored_account(&self, token: TokenHash) -> Result<AccountId, Error> {
        let account = self.live_account(self.find_session(token).await?);
        // Another node may have ended a session that this node still caches.
        account.inspect_err(|_| self.core.cache.invalidate_on(CacheEvent::SessionEnded(&token)))
    }

    fn live_account(&self, session: Option<Session>) -> Result<AccountId, Error> {
        let now = self.core.clock.now();
        let live = session.filter(|session| session.is_live(now)).ok_or(NO_SESSION)?;
        Ok(live.account_id)
    }
}
