//! Who says they are calling: the session's token and the key that the caller names.

use sealpost_domain::{ApiKeyId, Refusal, TokenHash};
use sealpost_wallet::SessionToken;

/// What a request showed, unchecked.
#[derive(Clone)]
pub struct Credentials {
    /// The bearer token.
    pub token: Option<String>,
    /// The key, from the header or from the body.
    pub key: KeyNamed,
}

/// Which key the request names: none, some text, or nobody can tell because the body that would name it is
/// faulty.
pub type KeyNamed = Result<Option<String>, Refusal>;

/// A token and a key that could exist; whether they do is for the store to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Caller {
    pub(crate) session: TokenHash,
    pub(crate) key: ApiKeyId,
}

/// The token may be good, but the key cannot: say so only to whoever has a live session.
#[derive(Debug)]
pub(crate) struct NoKey {
    pub(crate) session: TokenHash,
    pub(crate) refusal: Refusal,
}

impl Credentials {
    /// Reads the credentials as far as that goes without a look-up. The outer error is a token that nobody can
    /// have.
    pub(crate) fn read(&self) -> Result<Result<Caller, NoKey>, Refusal> {
        let session = read_token(self.token.as_deref())?;
        let refusal = match &self.key {
            Ok(Some(text)) => match text.parse() {
                Ok(key) => return Ok(Ok(Caller { session, key })),
                Err(_) => Refusal::KeyNotFound { field: None },
            },
            Ok(None) => NO_KEY,
            Err(fault) => fault.clone(),
        };
        Ok(Err(NoKey { session, refusal }))
    }
}

/// The hash of a bearer token whose prefix and checksum are right.
pub(crate) fn read_token(token: Option<&str>) -> Result<TokenHash, Refusal> {
    let text = token.ok_or(NO_TOKEN)?;
    SessionToken::hash_of(text).ok_or(NO_SESSION)
}

pub(crate) const NO_SESSION: Refusal =
    Refusal::Unauthorized("the session token is not valid or no longer valid; log in again");
pub(crate) const FOREIGN_KEY: Refusal =
    Refusal::Unauthorized("this API key belongs to another account than the session");
const NO_TOKEN: Refusal = Refusal::Unauthorized(
    "send the session token of POST /v1/auth/login as Authorization: Bearer TOKEN",
);
const NO_KEY: Refusal = Refusal::Unauthorized(
    "name the API key to act as, in the header X-DID-API-Key or as api_key_id in the body",
);
