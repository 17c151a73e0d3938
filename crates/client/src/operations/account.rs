//! Sessions, secrets and activity of the account.

use std::{fmt, sync::Arc};

use sealpost_domain::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    client::Client,
    error::ClientError,
    pages::{Pages, pages},
    request::ApiRequest,
    transport::Transport,
};

impl Client {
    /// Returns the operations of the account. They need a [`Login`](crate::Login).
    pub fn account(&self) -> Account {
        Account(Arc::clone(&self.transport))
    }

    /// Replaces the login secret and the recovery code of an account. Ends its sessions and API tokens. Needs no
    /// credentials. Store the response, then build a client with the new login secret.
    pub async fn recover(
        &self,
        account_id: AccountId,
        recovery_code: &str,
    ) -> Result<AccountSecrets, ClientError> {
        let body = json!({"account_id": account_id, "recovery_code": recovery_code});
        let request = ApiRequest::post("/v1/auth/recover", &body)?;
        self.transport.call(&ApiRequest { needs_credentials: false, ..request }).await
    }
}

/// The operations of the account that a client is logged in to.
#[derive(Debug, Clone)]
pub struct Account(pub(crate) Arc<Transport>);

impl Account {
    /// Returns the activity of the account, newest first. Each request loads `page_size` entries.
    pub fn activity(&self, page_size: u32) -> Pages<ActivityEntry> {
        pages(&self.0, "/v1/account/activity", json!({"limit": page_size}))
    }

    /// Ends the session of this client. The next request logs in again.
    pub async fn logout(&self) -> Result<LoggedOut, ClientError> {
        self.0.post("/v1/auth/logout", &json!({"all": false})).await
    }

    /// Ends all sessions of the account.
    pub async fn logout_all(&self) -> Result<LoggedOut, ClientError> {
        self.0.post("/v1/auth/logout", &json!({"all": true})).await
    }

    /// Replaces the login secret and the recovery code. Build a new client with the new secret.
    pub async fn rotate_login_secret(
        &self,
        login_secret: &str,
    ) -> Result<AccountSecrets, ClientError> {
        self.0.post("/v1/auth/rotate-secret", &json!({"login_secret": login_secret})).await
    }

    /// Returns everything that the service stores about the account, as a JSON object. The object contains no messages
    /// and no secrets.
    pub async fn export(&self, login_secret: &str) -> Result<Value, ClientError> {
        self.0.post("/v1/account/export", &json!({"login_secret": login_secret})).await
    }

    /// Closes the account and revokes all its API keys, permanently.
    pub async fn close(&self, login_secret: &str) -> Result<AccountClosed, ClientError> {
        self.0.post("/v1/account/close", &json!({"login_secret": login_secret})).await
    }
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
    /// Time at which the action happened.
    pub at: Timestamp,
    /// Kind of the recorded action, such as `login` or `key_revoked`.
    pub kind: String,
    /// Author of the action: `client`, `operator`, `session:` and the name of the session on the dashboard, or `token:`
    /// and the id of the API token.
    pub actor: String,
    /// IP address of the client that made the request. `None` if the action had no client, or if the address is
    /// unknown.
    pub client_address: Option<String>,
    /// Further details of the action as text. `None` if there are none.
    pub detail: Option<String>,
}

/// The response to the closing of an account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccountClosed {
    /// Id of the account.
    pub account_id: AccountId,
    /// Time at which the account was closed.
    pub closed_at: Timestamp,
    /// True if the personal data of the owner is also deleted.
    pub erased: bool,
    /// True if all rows are deleted. False if the service continues to delete rows in the background.
    pub complete: bool,
    /// Number of deleted rows by kind, as a JSON object.
    pub deleted: Value,
    /// The kinds of data that remain stored, each with the reason.
    pub kept: Vec<Value>,
}
