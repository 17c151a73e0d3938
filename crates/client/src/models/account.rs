//! Bodies of the operations of accounts.

use std::fmt;

use sealpost_domain::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A new session.
#[derive(Deserialize)]
pub(crate) struct LoggedIn {
    /// The token of the session.
    pub(crate) session_token: String,
}

/// The end of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoggedOut {
    /// Always true.
    pub logged_out: bool,
}

/// New secrets of an account.
#[derive(Clone, Serialize, Deserialize)]
pub struct AccountSecrets {
    /// The account.
    pub account_id: AccountId,
    /// The new login secret. No later response shows it.
    pub login_secret: String,
    /// The new recovery code. No later response shows it.
    pub recovery_code: String,
}

impl fmt::Debug for AccountSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountSecrets")
            .field("account_id", &self.account_id)
            .finish_non_exhaustive()
    }
}

/// One act on the account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ActivityEntry {
    /// Time of the act.
    pub at: Timestamp,
    /// Kind of the act, such as `login`.
    pub kind: String,
    /// The owner, an operator or the service.
    pub actor: String,
    /// Address of the client.
    pub client_address: Option<String>,
    /// Details.
    pub detail: Option<String>,
}

/// A closed account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccountClosed {
    /// The account.
    pub account_id: AccountId,
    /// Time of the closing.
    pub closed_at: Timestamp,
    /// Whether personal data is deleted.
    pub erased: bool,
    /// Whether the deletion has ended.
    pub complete: bool,
    /// Numbers of deleted rows.
    pub deleted: Value,
    /// Data that remains, with reasons.
    pub kept: Vec<Value>,
}

/// The response of a running service.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pong {
    /// Always `ok`.
    pub status: String,
}
