//! Authentication of requests. No other code resolves credentials.
//!
//! Checks in the order of the API contract:
//!
//! - The bearer token is valid.
//! - The key exists.
//! - The account of the token owns the key.
//! - The scope of an API token allows the request.
//!
//! [`admit`](super::admission::admit) repeats the checks of token and key on locked rows. Then it checks key state,
//! governance and limits.

use sealpost_domain::{AccountId, Refusal, RequestSource, TokenHash};

use super::{
    bearer::{Access, Bearer, BearerHash},
    credentials::{
        AccountSession, Caller, CallerId, Credentials, FOREIGN_KEY, NO_SESSION, hash_token,
    },
};
use crate::{cache::key_cache::CacheEvent, error::Error, owner::Owner, sealpost::Sealpost};

impl Sealpost {
    /// Authenticates a request that acts as an API key, with a session token or an API token.
    ///
    /// Accepts cached data, because the transaction of the request checks token and key again. Refuses unknown tokens
    /// and keys of other accounts without a transaction, so that these requests never lock rows of a key.
    ///
    /// The holder of an ended token must learn nothing about keys. Therefore a cached token is read from the database
    /// before a refusal because of the key or the scope. If the token has ended, the token is refused instead.
    pub async fn authenticate(
        &self,
        credentials: &Credentials,
        access: Access,
    ) -> Result<Caller, Error> {
        let token = hash_token(credentials.token.as_deref())?;
        let cached = self.cached_bearer(token)?;
        let is_cached = cached.is_some();
        let bearer = match cached {
            Some(bearer) => bearer,
            None => self.stored_bearer(token).await?,
        };
        let key_id = match credentials.key_id(&bearer) {
            Ok(key_id) => key_id,
            Err(refusal) => return self.refuse_bearer(token, is_cached, refusal).await,
        };
        let Some(key) = self.core.cached_key(key_id).await? else {
            let refusal = Refusal::KeyNotFound { field: None };
            return self.refuse_bearer(token, is_cached, refusal).await;
        };
        let account_id = bearer.account_id;
        if key.account_id != account_id {
            return self.refuse_bearer(token, is_cached, FOREIGN_KEY).await;
        }
        if let Err(refusal) = access.check(bearer.grant.as_ref()) {
            return self.refuse_bearer(token, is_cached, refusal).await;
        }
        self.record_use(token, &bearer);
        let id = CallerId { session: bearer.hash, key: key_id };
        Ok(Caller { id, account_id, grant: bearer.grant, key })
    }

    /// Authenticates a request that needs a session but no key. Refuses API tokens. Always reads the session from the
    /// database.
    pub async fn authenticate_session(&self, token: Option<&str>) -> Result<AccountSession, Error> {
        let token = hash_token(token)?;
        let bearer = self.stored_bearer(token).await?;
        Access::Session.check(bearer.grant.as_ref())?;
        self.record_use(token, &bearer);
        Ok(AccountSession { token: bearer.hash, account_id: bearer.account_id })
    }

    /// Authenticates the owner of an account for the dashboard. Reads the session from the database, because the pages
    /// of the dashboard run no transaction that checks the session again.
    pub async fn owner(&self, token: &str, source: RequestSource) -> Result<Owner<'_>, Error> {
        let session = self.authenticate_session(Some(token)).await?;
        Ok(Owner { accounts: &self.accounts, session, source })
    }

    /// Returns the account of a session or an API token, from the cache if possible.
    ///
    /// A cached token may have ended, so the result may only be used for limits per account. Call
    /// [`Sealpost::authenticate`] or [`Sealpost::authenticate_session`] to authenticate a request.
    pub async fn account_of(&self, token: Option<&str>) -> Result<AccountId, Error> {
        Ok(self.bearer(hash_token(token)?).await?.account_id)
    }

    /// Returns the account of a session and the hash of its token, from the cache if possible. A cached session may
    /// have ended, so the result may only be used for limits. Refuses API tokens, so that they do not use up the limit
    /// of requests that only sessions may send.
    pub async fn session_to_limit(
        &self,
        token: Option<&str>,
    ) -> Result<(AccountId, TokenHash), Error> {
        match hash_token(token)? {
            hash @ BearerHash::Session(_) => Ok((self.bearer(hash).await?.account_id, hash.hash())),
            BearerHash::ApiToken(_) => {
                let session = self.authenticate_session(token).await?;
                Ok((session.account_id, session.token))
            }
        }
    }

    /// Returns `refusal` as error if the token is valid, and otherwise the refusal of an invalid token. The holder of
    /// an ended token therefore cannot find out if a key exists. Reads the token from the database again only if it
    /// came from the cache.
    async fn refuse_bearer(
        &self,
        token: BearerHash,
        is_cached: bool,
        refusal: Refusal,
    ) -> Result<Caller, Error> {
        if is_cached {
            self.stored_bearer(token).await?;
        }
        Err(refusal.into())
    }

    /// Returns the token with this hash, from the cache if possible. Refuses an unknown or expired token. Another node
    /// may have ended a cached token.
    async fn bearer(&self, token: BearerHash) -> Result<Bearer, Error> {
        match self.cached_bearer(token)? {
            Some(bearer) => Ok(bearer),
            None => self.stored_bearer(token).await,
        }
    }

    /// Returns the token with this hash from the cache, or `None` if it is not cached. Refuses an expired token.
    /// Another node may have ended a cached token.
    fn cached_bearer(&self, token: BearerHash) -> Result<Option<Bearer>, Error> {
        let cached = self.core.cache.bearer(&token.hash());
        cached.map(|bearer| self.live(Some(bearer))).transpose()
    }

    /// Returns the token with this hash from the database. Refuses a token that is unknown, has ended or has expired.
    async fn stored_bearer(&self, token: BearerHash) -> Result<Bearer, Error> {
        let bearer = self.live(self.core.look_up(token).await?);
        // Another node may have ended a token that this node still caches.
        bearer.inspect_err(|_| {
            self.core.cache.invalidate_on(CacheEvent::SessionEnded(&token.hash()));
        })
    }

    fn record_use(&self, token: BearerHash, bearer: &Bearer) {
        self.core.bearer_uses.record(token, bearer, self.core.clock.now());
    }

    fn live(&self, bearer: Option<Bearer>) -> Result<Bearer, Error> {
        let now = self.core.clock.now();
        Ok(bearer.filter(|bearer| bearer.is_live(now)).ok_or(NO_SESSION)?)
    }
}
