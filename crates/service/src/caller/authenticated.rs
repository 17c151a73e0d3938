//! Results of authentication: a session of an account, alone or with a key of that account.

use std::{fmt, sync::Arc};

use sealpost_domain::{AccountId, ApiKeyId, ApiTokenId, TokenHash};

use super::credentials::CallerId;
use crate::cache::cached_key::CachedKey;

/// An authenticated session together with a key of its account.
///
/// Valid for one request: authenticate again for the next request. Every use case checks session and key again in its
/// transaction. An old `Caller` is therefore refused if the session has ended or the key was revoked.
#[derive(Clone)]
pub struct Caller {
    pub(crate) id: CallerId,
    pub(crate) account_id: AccountId,
    /// `None` for a session.
    pub(crate) api_token: Option<ApiTokenId>,
    /// The sender's cache entry, so that the send path needs no second look-up.
    pub(crate) key: Arc<CachedKey>,
}

impl Caller {
    /// Returns the account of the session and the key.
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

/// An authenticated session, for requests without a key.
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
}
