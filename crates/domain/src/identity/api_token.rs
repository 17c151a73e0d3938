//! API tokens: long-lived bearer tokens for one API key, with limited scopes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::{AccountId, ApiKeyId, ApiTokenId, Label, Timestamp, TokenHash};

/// An API token. Only the hash of its text is stored.
///
/// A stored token never changes, except for the time of its last use. Revocation deletes the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Public id of the API token, with the prefix `tok_`.
    pub id: ApiTokenId,
    /// Hash of the bearer token.
    pub token: TokenHash,
    /// The account that owns the API key.
    pub account_id: AccountId,
    /// The only API key for which the token can make requests.
    pub api_key_id: ApiKeyId,
    /// Display name of the token, chosen by the owner.
    pub name: Label,
    /// The requests that the token allows.
    pub scopes: TokenScopes,
    /// Time at which the token was created.
    pub created_at: Timestamp,
    /// End of the token's validity, exclusive.
    pub expires_at: Timestamp,
    /// Start of the hour of the last use. `None` if the token was never used.
    pub last_used_at: Option<Timestamp>,
}

/// A group of requests that an API token can allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// Open envelopes, and get evidence about received ones.
    Open,
    /// Read the status of the key, its webhooks and their deliveries, find identities, and list sent messages.
    Read,
    /// Send messages, also in batches, list sent messages, and get their receipts (delivery states) and evidence.
    Send,
    /// Register and manage webhooks.
    Webhooks,
}

impl TokenScope {
    /// All scopes, in the order of the API contract.
    pub const ALL: [Self; 4] = [Self::Send, Self::Open, Self::Webhooks, Self::Read];

    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Send => "send",
            Self::Webhooks => "webhooks",
        }
    }

    /// Parses the name used in JSON and SQL. `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Open => 1,
            Self::Read => 2,
            Self::Send => 4,
            Self::Webhooks => 8,
        }
    }
}

/// The set of scopes of an API token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenScopes(u8);

impl TokenScopes {
    /// Returns whether the set has this scope.
    pub const fn contains(self, scope: TokenScope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Returns the scopes in the order of [`TokenScope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = TokenScope> {
        TokenScope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<TokenScope> for TokenScopes {
    fn from_iter<I: IntoIterator<Item = TokenScope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl Serialize for TokenScopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_scopes_and_no_other() {
        let scopes: TokenScopes =
            [TokenScope::Read, TokenScope::Send, TokenScope::Read].into_iter().collect();
        let held = TokenScope::ALL.map(|scope| scopes.contains(scope));
        assert_eq!(held, [true, false, false, true]);
        assert_eq!(scopes.iter().collect::<Vec<_>>(), [TokenScope::Send, TokenScope::Read]);
        for scope in TokenScope::ALL {
            assert!(!TokenScopes::default().contains(scope));
            assert_eq!(TokenScope::from_name(scope.as_str()), Some(scope));
        }
    }
}
