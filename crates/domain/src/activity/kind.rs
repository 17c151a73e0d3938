//! Kinds of actions in the activity log of an account.

use schemars::JsonSchema;
use serde::Serialize;

use crate::named_enum::named_enum;

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
