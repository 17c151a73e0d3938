//! Sessions, secrets and activity of the account.

use std::sync::Arc;

use sealpost_domain::ApiTokenId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    error::ClientError,
    models::{
        AccountClosed, AccountSecrets, ActivityEntry, ApiTokenRequest, ApiTokenView,
        CreatedApiToken, LoggedOut,
    },
    pages::{Page, Pages, pages},
    request::ApiRequest,
    transport::Transport,
};

/// The operations of the account that a client is logged in to.
#[derive(Debug, Clone)]
pub struct Account(pub(crate) Arc<Transport>);

impl Account {
    /// Returns the activity of the account, newest first. Each request loads `page_size` entries.
    pub fn activity(&self, page_size: u32) -> Pages<ActivityEntry> {
        pages::<ActivityPage>(&self.0, "/v1/account/activity", json!({"limit": page_size}))
    }

    /// Ends the session of this client. The next request logs in again.
    pub async fn logout(&self) -> Result<LoggedOut, ClientError> {
        self.0.call(&ApiRequest::post("/v1/auth/logout", &json!({"all": false}))?).await
    }

    /// Ends all sessions of the account.
    pub async fn logout_all(&self) -> Result<LoggedOut, ClientError> {
        self.0.call(&ApiRequest::post("/v1/auth/logout", &json!({"all": true}))?).await
    }

    /// Replaces the login secret and the recovery code. Build a new client with the new secret.
    pub async fn rotate_login_secret(
        &self,
        login_secret: &str,
    ) -> Result<AccountSecrets, ClientError> {
        let body = json!({"login_secret": login_secret});
        self.0.call(&ApiRequest::post("/v1/auth/rotate-secret", &body)?).await
    }

    /// Creates an API token for one API key. Only this response contains the secret of the token.
    pub async fn create_token(
        &self,
        login_secret: &str,
        token: &ApiTokenRequest,
    ) -> Result<CreatedApiToken, ClientError> {
        let body = CreateTokenBody { login_secret, token };
        self.0.call(&ApiRequest::post("/v1/auth/tokens/create", &body)?).await
    }

    /// Returns the API tokens that have not expired, oldest first.
    pub async fn tokens(&self) -> Result<Vec<ApiTokenView>, ClientError> {
        let request = ApiRequest::post("/v1/auth/tokens/list", &json!({}))?;
        Ok(self.0.call::<ApiTokenList>(&request).await?.tokens)
    }

    /// Revokes an API token.
    pub async fn revoke_token(&self, token_id: ApiTokenId) -> Result<(), ClientError> {
        let body = json!({"token_id": token_id});
        let request = ApiRequest::post("/v1/auth/tokens/revoke", &body)?;
        self.0.call::<Value>(&request).await.map(drop)
    }

    /// Returns everything that the service stores about the account, as a JSON object. It has no messages and no secrets.
    pub async fn export(&self, login_secret: &str) -> Result<Value, ClientError> {
        let body = json!({"login_secret": login_secret});
        self.0.call(&ApiRequest::post("/v1/account/export", &body)?).await
    }

    /// Closes the account and revokes all its API keys, permanently.
    pub async fn close(&self, login_secret: &str) -> Result<AccountClosed, ClientError> {
        let body = json!({"login_secret": login_secret});
        self.0.call(&ApiRequest::post("/v1/account/close", &body)?).await
    }
}

#[derive(Serialize)]
struct CreateTokenBody<'a> {
    login_secret: &'a str,
    #[serde(flatten)]
    token: &'a ApiTokenRequest,
}

#[derive(Deserialize)]
struct ApiTokenList {
    tokens: Vec<ApiTokenView>,
}

#[derive(Deserialize)]
struct ActivityPage {
    entries: Vec<ActivityEntry>,
    next_cursor: Option<String>,
}

impl Page for ActivityPage {
    type Entry = ActivityEntry;

    fn into_parts(self) -> (Vec<ActivityEntry>, Option<String>) {
        (self.entries, self.next_cursor)
    }
}
