//! The credentials of a request: a session token, and the API key that the request acts as.

use sealpost_domain::{ApiKeyId, Refusal, TokenHash};
use sealpost_wallet::{LoginSecret, SessionToken};

/// The credentials of a request as they arrived, not verified.
#[derive(Clone)]
pub struct Credentials {
    /// The bearer token; `None` without an `Authorization` header.
    pub token: Option<String>,
    /// The API key that the request acts as, from its header or its body.
    pub key: KeyNamed,
}

/// The API key that a request names in its header or body. `None` if it names none. `Err` if the header names none and
/// the body is invalid.
pub type KeyNamed = Result<Option<String>, Refusal>;

/// A session and a key of a request. Both are well-formed but may not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallerId {
    pub(crate) session: TokenHash,
    pub(crate) key: ApiKeyId,
}

impl Credentials {
    /// Returns the key. Refuses a request that names no key or a malformed one.
    pub(super) fn key_id(&self) -> Result<ApiKeyId, Refusal> {
        match &self.key {
            Ok(Some(text)) => {
                text.parse().map_err(|_malformed| Refusal::KeyNotFound { field: None })
            }
            Ok(None) => Err(NO_KEY),
            Err(fault) => Err(fault.clone()),
        }
    }
}

/// Returns the hash of a bearer token. Refuses a token whose prefix or checksum is wrong.
pub(super) fn hash_token(token: Option<&str>) -> Result<TokenHash, Refusal> {
    let token = token.filter(|token| !token.is_empty()).ok_or(NO_TOKEN)?;
    SessionToken::hash_of(token).ok_or_else(|| no_session_token(token))
}

/// Returns the refusal of a bearer token that is not a session token. Recognises other kinds of credentials by their
/// prefix. The refusal does not repeat the text, which may be a secret.
fn no_session_token(token: &str) -> Refusal {
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

pub(crate) const NO_SESSION: Refusal =
    Refusal::Unauthorized("the session token is not valid or no longer valid; log in again");
pub(crate) const FOREIGN_KEY: Refusal =
    Refusal::Unauthorized("this API key belongs to another account than the session");
const NO_TOKEN: Refusal = Refusal::Unauthorized(
    "send the session token of POST /v1/auth/login as Authorization: Bearer TOKEN",
);
const KEY_AS_TOKEN: Refusal = Refusal::Unauthorized(
    "the bearer is an API key (ak_), but must be a session token (st_) of POST /v1/auth/login; send the API key as \
     X-DID-API-Key",
);
const SECRET_AS_TOKEN: Refusal = Refusal::Unauthorized(
    "the bearer is a login secret (ls_), but must be a session token (st_); exchange the secret for one at POST \
     /v1/auth/login",
);
const NO_KEY: Refusal = Refusal::Unauthorized(
    "name the API key to act as, in the header X-DID-API-Key or as api_key_id in the body",
);
