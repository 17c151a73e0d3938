//! The results of authentication: a session of an account, alone or with an API key of that account.

use std::{fmt, sync::Arc};

use sealpost_domain::{AccountId, ApiKeyId, ApiTokenId, TokenHash};

use super::credentials::CallerId;
use crate::cache::cached_key::CachedKey;

/// An authenticated session, together with an API key of its account.
///
/// Valid for one request, so each request must be authenticated separately. The transaction of each request also checks
/// session and key again. An old `Caller` is refused if the session has ended or the key was revoked.
#[derive(Clone)]
pub struct Caller {
    pub(crate) id: CallerId,
    pub(crate) account_id: AccountId,
    /// Id of the API token that authenticated the request. `None` for a session.
    pub(crate) api_token: Option<ApiTokenId>,
    /// The cache entry of the caller's key, so that a send needs no second look-up.
    pub(crate) key: Arc<CachedKey>,
}

impl Caller {
    /// Returns the account that owns the session and the key.
    pub fn account_id(&self) -> AccountId {
        self.account_id
    }

    /// Returns the key that the request acts as.
    pub fn key_id(&self) -> ApiKeyId {
        self.id.key
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("key", &self.id.key).finish_non_exhaustive()
    }
}

/// An authenticated session, for requests without an API key.
#[derive(Clone, Copy)]
pub struct AccountSession {
    pub(crate) token: TokenHash,
    pub(crate) account_id: AccountId,
}

impl AccountSession {
    /// Returns the account of the session.
    pub fn account_id(&self) -> AccountId {
        self.account_id
    }

    /// Returns the hash of the session token, which identifies the session.
    pub fn token_hash(&self) -> TokenHash {
        self.token
    }
}
