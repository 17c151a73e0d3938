//! The credentials of a request: a session token or an API token, and the API key that the request acts as.

use std::{fmt, sync::Arc};

use sealpost_domain::{AccountId, ApiKeyId, Refusal, TokenHash, TokenScope};
use sealpost_wallet::{KeyToken, LoginSecret, SessionToken};

use super::bearer::{Access, Bearer, BearerHash, TokenGrant};
use crate::cache::cached_key::CachedKey;

/// The credentials of a request as they arrived, not verified.
#[derive(Clone)]
pub struct Credentials {
    /// The bearer token; `None` without an `Authorization` header.
    pub token: Option<String>,
    /// The API key that the request acts as, from its header or its body.
    pub key: KeyNamed,
}

/// The API key that a request names in its header or body.
#[derive(Clone)]
pub enum KeyNamed {
    /// The header or the body names this key.
    Key(String),
    /// Neither header nor body names a key.
    None,
    /// The header is invalid.
    InvalidHeader(Refusal),
    /// The header names no key, and the body is invalid.
    InvalidBody(Refusal),
}

/// A bearer token and a key, both well-formed but not verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallerId {
    /// Hash of a session token or an API token.
    pub(crate) session: TokenHash,
    pub(crate) key: ApiKeyId,
}

impl Credentials {
    /// Returns the key that the request acts as. A request with a session must name the key. A request with an API
    /// token need not name the key, because an API token has only one.
    pub(super) fn key_id(&self, bearer: &Bearer) -> Result<ApiKeyId, Refusal> {
        match (&bearer.grant, &self.key) {
            (None, KeyNamed::None) => Err(NO_KEY),
            (None, KeyNamed::Key(text)) => {
                let unknown = Refusal::KeyNotFound { field: None };
                text.parse().map_err(|_malformed| Refusal::for_id(text, unknown))
            }
            (Some(grant), KeyNamed::Key(text)) => {
                let is_own = text.parse() == Ok(grant.api_key_id);
                if is_own { Ok(grant.api_key_id) } else { Err(OTHER_KEY) }
            }
            (_, KeyNamed::InvalidHeader(refusal)) | (None, KeyNamed::InvalidBody(refusal)) => {
                Err(refusal.clone())
            }
            // The error of the body is reported later, when the request has been admitted and counted.
            (Some(grant), KeyNamed::None | KeyNamed::InvalidBody(_)) => Ok(grant.api_key_id),
        }
    }
}

/// Returns the hash of a bearer token. Refuses a token with a wrong prefix or checksum.
pub(super) fn hash_token(token: Option<&str>) -> Result<BearerHash, Refusal> {
    let token = token.filter(|token| !token.is_empty()).ok_or(NO_TOKEN)?;
    let session = || SessionToken::hash_of(token).map(BearerHash::Session);
    let api_token = || KeyToken::hash_of(token).map(BearerHash::ApiToken);
    session().or_else(api_token).ok_or_else(|| no_bearer_token(token))
}

/// Returns the refusal of a text that is neither a session token nor an API token. For other kinds of credentials,
/// known by their prefix, the refusal names the mistake. It never repeats the text, which may be a secret.
fn no_bearer_token(token: &str) -> Refusal {
    let has = |prefix: &str| {
        token.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    if has("ak_") {
        KEY_AS_TOKEN
    } else if has(LoginSecret::PREFIX) {
        SECRET_AS_TOKEN
    } else {
        NO_SESSION
    }
}

pub(crate) const NO_SESSION: Refusal = Refusal::Unauthorized(
    "the token is not valid or no longer valid; log in again, or create another API token",
);
pub(crate) const FOREIGN_KEY: Refusal = Refusal::Unauthorized(
    "this API key belongs to another account than the session; a new login does not change that: use an API key of this account, or log in to the other account",
);
const OTHER_KEY: Refusal = Refusal::Unauthorized(
    "this API token is for another API key; send no API key, or the one that the token was created for",
);
const NO_TOKEN: Refusal = Refusal::Unauthorized(
    "send the session token of POST /v1/auth/login, or an API token, as Authorization: Bearer TOKEN",
);
const KEY_AS_TOKEN: Refusal = Refusal::Unauthorized(
    "the bearer is an API key (ak_), but must be a session token (st_) of POST /v1/auth/login or an API token (kt_); send the API key as \
     X-DID-API-Key",
);
const SECRET_AS_TOKEN: Refusal = Refusal::Unauthorized(
    "the bearer is a login secret (ls_), but must be a session token (st_); exchange the secret for one at POST \
     /v1/auth/login",
);
const NO_KEY: Refusal = Refusal::Unauthorized(
    "name the API key to act as, in the header X-DID-API-Key or as api_key_id in the body",
);

/// An authenticated session or API token, together with an API key of its account.
///
/// Authenticate each request separately. The transaction of the request checks token and key again, so it refuses an
/// old `Caller` whose token has ended or whose key was revoked.
#[derive(Clone)]
pub struct Caller {
    pub(crate) id: CallerId,
    pub(crate) account_id: AccountId,
    /// The API token that authenticated the request. `None` for a session.
    pub(crate) grant: Option<TokenGrant>,
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

    /// Refuses an API token that has none of these scopes.
    pub(crate) fn require_scope(&self, needed: &'static [TokenScope]) -> Result<(), Refusal> {
        Access::Scopes(needed).check(self.grant.as_ref())
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
