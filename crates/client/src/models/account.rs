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

/// The response to a logout.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoggedOut {
    /// Always true.
    pub logged_out: bool,
}

/// New secrets of an account.
#[derive(Clone, Serialize, Deserialize)]
pub struct AccountSecrets {
    /// Id of the account.
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

/// One entry of the activity log of an account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ActivityEntry {
    /// Time at which the act happened.
    pub at: Timestamp,
    /// Kind of the recorded act, such as `login` or `key_revoked`.
    pub kind: String,
    /// Author of the act: `client`, `operator`, `session:` and the name of the session on the dashboard, or `token:` and
    /// the id of the API token.
    pub actor: String,
    /// IP address of the client that made the request. `None` if the act had no client, or if the address is unknown.
    pub client_address: Option<String>,
    /// Further details of the act as text. `None` if there are none.
    pub detail: Option<String>,
}

/// The response to the closing of an account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccountClosed {
    /// Id of the account.
    pub account_id: AccountId,
    /// Time at which the account was closed.
    pub closed_at: Timestamp,
    /// True if personal data of the owner is deleted too.
    pub erased: bool,
    /// True if all rows are deleted. False if the service continues to delete rows in the background.
    pub complete: bool,
    /// Number of deleted rows by kind, as a JSON object.
    pub deleted: Value,
    /// The kinds of data that remain stored, each with the reason.
    pub kept: Vec<Value>,
}

/// The response of a running service.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pong {
    /// Always `ok`.
    pub status: String,
}
