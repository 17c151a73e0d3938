//! Kinds of actions in the activity log of an account.

use schemars::JsonSchema;
use serde::Serialize;

/// The kind of an action in the activity log of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    /// The owner exported the data of the account.
    AccountExported,
    /// An API key (identity) was created.
    KeyActivated,
    /// The owner revoked an API key.
    KeyRevoked,
    /// A session began.
    Login,
    /// A login secret or a recovery code was wrong.
    LoginFailed,
    /// The owner ended one or all sessions.
    Logout,
    /// An operator changed the account or one of its API keys.
    Operator,
    /// The owner changed the recipient policy of an API key.
    PolicyChanged,
    /// A client used the recovery code to get a new login secret.
    Recovered,
    /// The owner replaced the login secret, or the signing secret of a webhook.
    SecretReplaced,
    /// The owner created an API token.
    TokenCreated,
    /// The owner revoked an API token.
    TokenRevoked,
    /// The owner deleted a webhook.
    WebhookDeleted,
    /// The owner registered a webhook.
    WebhookRegistered,
    /// The owner changed a webhook.
    WebhookUpdated,
}

impl ActivityKind {
    /// All kinds of actions.
    pub const ALL: [Self; 15] = [
        Self::AccountExported,
        Self::KeyActivated,
        Self::KeyRevoked,
        Self::Login,
        Self::LoginFailed,
        Self::Logout,
        Self::Operator,
        Self::PolicyChanged,
        Self::Recovered,
        Self::SecretReplaced,
        Self::TokenCreated,
        Self::TokenRevoked,
        Self::WebhookDeleted,
        Self::WebhookRegistered,
        Self::WebhookUpdated,
    ];

    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AccountExported => "account_exported",
            Self::KeyActivated => "key_activated",
            Self::KeyRevoked => "key_revoked",
            Self::Login => "login",
            Self::LoginFailed => "login_failed",
            Self::Logout => "logout",
            Self::Operator => "operator",
            Self::PolicyChanged => "policy_changed",
            Self::Recovered => "recovered",
            Self::SecretReplaced => "secret_replaced",
            Self::TokenCreated => "token_created",
            Self::TokenRevoked => "token_revoked",
            Self::WebhookDeleted => "webhook_deleted",
            Self::WebhookRegistered => "webhook_registered",
            Self::WebhookUpdated => "webhook_updated",
        }
    }

    /// Parses the name used in JSON and SQL. `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_json_and_sql_are_the_same_and_are_parsed() {
        for kind in ActivityKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(ActivityKind::from_name(kind.as_str()), Some(kind));
        }
        assert_eq!(ActivityKind::from_name("send"), None);
    }
}
