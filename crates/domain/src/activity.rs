//! The activity of an account: a log of logins and of changes to the account, its API keys and its webhooks. The owner
//! of the account can read the log. Sent messages are not logged.

use std::{fmt, net::IpAddr};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{AccountId, ActivityId, ApiTokenId, Timestamp, TokenHash, named_enum::named_enum};

/// One entry in the activity log of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Id of the entry. Ids sort by time.
    pub id: ActivityId,
    /// The account that the action concerns.
    pub account_id: AccountId,
    /// Time of the action.
    pub at: Timestamp,
    /// Kind of the action.
    pub kind: ActivityKind,
    /// Author of the action: a client, an operator, a session or an API token.
    pub actor: ActivityActor,
    /// IP address of the client. `None` if unknown, and for operators.
    pub client_address: Option<IpAddr>,
    /// The affected key, webhook or session, as short text without secrets.
    pub detail: Option<String>,
}

named_enum! {
    /// The kind of an action in the activity log of an account.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ActivityKind {
        /// The owner exported the data of the account.
        AccountExported = "account_exported",
        /// An API key (identity) was created.
        KeyActivated = "key_activated",
        /// The owner revoked an API key.
        KeyRevoked = "key_revoked",
        /// A session began.
        Login = "login",
        /// A login secret or a recovery code was wrong.
        LoginFailed = "login_failed",
        /// The owner ended one or all sessions.
        Logout = "logout",
        /// An operator changed the account or one of its API keys.
        Operator = "operator",
        /// The owner changed the recipient policy of an API key.
        PolicyChanged = "policy_changed",
        /// A client used the recovery code to get a new login secret.
        Recovered = "recovered",
        /// The owner replaced the login secret, or the signing secret of a webhook.
        SecretReplaced = "secret_replaced",
        /// The owner created an API token.
        TokenCreated = "token_created",
        /// The owner revoked an API token.
        TokenRevoked = "token_revoked",
        /// The owner deleted a webhook.
        WebhookDeleted = "webhook_deleted",
        /// The owner registered a webhook.
        WebhookRegistered = "webhook_registered",
        /// The owner changed a webhook.
        WebhookUpdated = "webhook_updated",
    }
}

/// The author of an action, as text: `client`, `operator`, `session:` with the name of the session, or `token:` with
/// the id of the API token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityActor(String);

impl ActivityActor {
    /// Creates the author for a client without a session, such as one that failed to log in.
    pub fn client() -> Self {
        Self("client".to_owned())
    }

    /// Creates the author for an operator of the service.
    pub fn operator() -> Self {
        Self("operator".to_owned())
    }

    /// Creates the author for a session: its short name, as in the owner's list of sessions.
    pub fn session(token: &TokenHash) -> Self {
        Self(format!("session:{}", token.short_name()))
    }

    /// Creates the author for an API token.
    pub fn api_token(id: &ApiTokenId) -> Self {
        Self(format!("token:{id}"))
    }

    /// Creates an author from the text in the database. Accepts every text: a newer version of the service may have
    /// stored an author that this version does not know.
    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for ActivityActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The client of a request, as the HTTP layer sees it. The default is an unknown client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestSource {
    /// IP address of the client. `None` if unknown.
    pub address: Option<IpAddr>,
    /// Name of the client program, from the `User-Agent` header. `None` if unknown.
    pub user_agent: Option<UserAgent>,
}

/// The `User-Agent` header of a client, in printable ASCII and of limited length. Escape the text in pages, because the
/// client chooses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAgent(String);

impl UserAgent {
    /// Maximum length in bytes.
    pub const LEN_MAX: usize = 200;

    /// Creates a user agent from the bytes of the header. Keeps the first [`LEN_MAX`](Self::LEN_MAX) bytes, and
    /// replaces each byte that is not printable ASCII by `?`. Returns `None` if no text is left.
    pub fn new(header: &[u8]) -> Option<Self> {
        let printable =
            |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '?' };
        let kept: String = header.iter().take(Self::LEN_MAX).map(printable).collect();
        let kept = kept.trim();
        (!kept.is_empty()).then(|| Self(kept.to_owned()))
    }
}

impl fmt::Display for UserAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_is_short_and_printable() {
        let kept = |header: &str| UserAgent::new(header.as_bytes()).map(|agent| agent.to_string());
        assert_eq!(kept("curl/8.5 <b>"), Some("curl/8.5 <b>".to_owned()));
        assert_eq!(kept("a\u{202e}b\n\u{1b}[2J"), Some("a???b??[2J".to_owned()));
        assert_eq!(kept(&"x".repeat(4000)).map(|text| text.len()), Some(UserAgent::LEN_MAX));
        assert_eq!([kept(""), kept("  ")], [None, None]);
    }

    #[test]
    fn names_in_json_and_sql_are_the_same_and_are_parsed() {
        for kind in ActivityKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(ActivityKind::from_name(kind.as_str()), Some(kind));
        }
        assert_eq!(ActivityKind::from_name("send"), None);
    }
}
