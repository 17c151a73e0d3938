//! Bearer tokens: a session token acts for an account, an API token for one key with limited scopes.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use sealpost_domain::{
    AccountId, ApiKeyId, ApiToken, ApiTokenId, Refusal, Session, Timestamp, TokenHash, TokenScope,
    TokenScopes,
};

/// The hash of a well-formed bearer token, by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BearerHash {
    ApiToken(TokenHash),
    Session(TokenHash),
}

impl BearerHash {
    pub(crate) const fn hash(self) -> TokenHash {
        match self {
            Self::ApiToken(hash) | Self::Session(hash) => hash,
        }
    }

    /// Splits tokens by kind: returns the hashes of the sessions, and those of the API tokens.
    pub(crate) fn by_kind(tokens: &[Self]) -> (Vec<TokenHash>, Vec<TokenHash>) {
        let (mut sessions, mut api_tokens) = (Vec::new(), Vec::new());
        for token in tokens {
            match token {
                Self::ApiToken(hash) => api_tokens.push(*hash),
                Self::Session(hash) => sessions.push(*hash),
            }
        }
        (sessions, api_tokens)
    }
}

/// A stored bearer token. It may have expired.
#[derive(Debug, Clone)]
pub(crate) struct Bearer {
    pub(crate) hash: TokenHash,
    pub(crate) account_id: AccountId,
    pub(crate) expires_at: Timestamp,
    /// The key and the scopes of an API token. `None` for a session.
    pub(crate) grant: Option<TokenGrant>,
    pub(crate) last_use: Arc<LastUse>,
}

/// The id, the key and the scopes of an API token. These never change.
#[derive(Debug, Clone)]
pub(crate) struct TokenGrant {
    pub(crate) id: ApiTokenId,
    pub(crate) api_key_id: ApiKeyId,
    pub(crate) scopes: TokenScopes,
}

/// Start of the hour in which this node saw the token last, in milliseconds since the Unix epoch. 0 before the first
/// use.
#[derive(Debug, Default)]
pub(crate) struct LastUse(AtomicI64);

impl Bearer {
    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// Returns the start of the current hour if this is the first known use of the token in this hour. Otherwise
    /// returns `None`.
    pub(crate) fn first_use_in_hour(&self, now: Timestamp) -> Option<Timestamp> {
        let hour = now.as_millis() - now.as_millis().rem_euclid(HOUR_MS);
        let LastUse(last) = &*self.last_use;
        // Almost every request ends at this read, without a write to shared memory. A last use after the next hour does
        // not count, because only a wrong clock can have recorded it.
        let counts = |last: i64| (hour..=hour.saturating_add(HOUR_MS)).contains(&last);
        let is_first =
            !counts(last.load(Ordering::Relaxed)) && !counts(last.swap(hour, Ordering::Relaxed));
        is_first.then(|| Timestamp::from_millis(hour))
    }
}

impl From<Session> for Bearer {
    fn from(session: Session) -> Self {
        let Session { token: hash, account_id, expires_at } = session;
        Self { hash, account_id, expires_at, grant: None, last_use: Arc::default() }
    }
}

impl From<ApiToken> for Bearer {
    fn from(token: ApiToken) -> Self {
        let ApiToken { id, token: hash, account_id, api_key_id, scopes, expires_at, .. } = token;
        let grant = Some(TokenGrant { id, api_key_id, scopes });
        Self { hash, account_id, expires_at, grant, last_use: Arc::default() }
    }
}

/// The bearer tokens that an endpoint accepts. A session is always accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Accepts sessions, and API tokens with at least one of these scopes.
    Scopes(&'static [TokenScope]),
    /// Accepts only sessions. Refuses all API tokens.
    Session,
}

impl Access {
    /// Refuses an API token that has none of the accepted scopes.
    pub(crate) fn check(self, grant: Option<&TokenGrant>) -> Result<(), Refusal> {
        let needed = match self {
            Self::Scopes(needed) => needed,
            Self::Session => &[],
        };
        let allows = |grant: &TokenGrant| needed.iter().any(|scope| grant.scopes.contains(*scope));
        if grant.is_none_or(allows) {
            return Ok(());
        }
        Err(Refusal::InsufficientScope { needed })
    }
}

const HOUR_MS: i64 = 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_recorded_once_an_hour_also_after_a_wrong_clock() {
        let bearer = Bearer::from(Session {
            token: TokenHash([1; 32]),
            account_id: AccountId::new(Timestamp::from_millis(0), [0; 10]),
            expires_at: Timestamp::from_millis(i64::MAX),
        });
        let first = |minute: i64| {
            let hour = bearer.first_use_in_hour(Timestamp::from_millis(minute * 60_000));
            hour.map(|hour| hour.as_millis() / HOUR_MS)
        };
        assert_eq!([first(119), first(60), first(59), first(120)], [Some(1), None, None, Some(2)]);
        // The clock is a day ahead for one request.
        assert_eq!([first(121 + 1440), first(122), first(123)], [Some(26), Some(2), None]);
    }
}
