//! API tokens of the account.

use std::fmt;

use sealpost_domain::{ApiKeyId, ApiTokenId, Timestamp, TokenScope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{error::ClientError, operations::Account};

impl Account {
    /// Creates an API token for one API key. Only this response contains the secret of the token.
    pub async fn create_token(
        &self,
        login_secret: &str,
        token: &ApiTokenRequest,
    ) -> Result<CreatedApiToken, ClientError> {
        let body = CreateTokenBody { login_secret, token };
        self.0.post("/v1/auth/tokens/create", &body).await
    }

    /// Returns the API tokens that have not expired, oldest first.
    pub async fn tokens(&self) -> Result<Vec<ApiTokenView>, ClientError> {
        let list: ApiTokenList = self.0.post("/v1/auth/tokens/list", &json!({})).await?;
        Ok(list.tokens)
    }

    /// Revokes an API token.
    pub async fn revoke_token(&self, token_id: ApiTokenId) -> Result<(), ClientError> {
        let body = json!({"token_id": token_id});
        self.0.post::<Value>("/v1/auth/tokens/revoke", &body).await.map(drop)
    }
}

/// The API token to create.
#[derive(Debug, Clone, Serialize)]
pub struct ApiTokenRequest {
    /// The API key that the token acts as.
    pub api_key_id: ApiKeyId,
    /// Display name of the token.
    pub name: String,
    /// The scopes: the kinds of requests that the token allows.
    pub scopes: Vec<TokenScope>,
    /// Lifetime in days, 1 to 366. `None` selects the default of the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_days: Option<u32>,
}

#[derive(Serialize)]
struct CreateTokenBody<'a> {
    login_secret: &'a str,
    #[serde(flatten)]
    token: &'a ApiTokenRequest,
}

/// A new API token. Debug output omits its secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct CreatedApiToken {
    /// Id of the token.
    pub token_id: ApiTokenId,
    /// The secret token (`kt_…`). No later response shows it.
    pub token: String,
    /// Display name of the token.
    pub name: String,
    /// The API key that the token acts as.
    pub api_key_id: ApiKeyId,
    /// The scopes: the kinds of requests that the token allows.
    pub scopes: Vec<TokenScope>,
    /// Time at which the token was created.
    pub created_at: Timestamp,
    /// Time at which the token expires.
    pub expires_at: Timestamp,
}

impl fmt::Debug for CreatedApiToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedApiToken").field("token_id", &self.token_id).finish_non_exhaustive()
    }
}

/// An API token without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApiTokenView {
    /// Id of the token.
    pub token_id: ApiTokenId,
    /// Display name of the token.
    pub name: String,
    /// The API key that the token acts as.
    pub api_key_id: ApiKeyId,
    /// The scopes: the kinds of requests that the token allows.
    pub scopes: Vec<TokenScope>,
    /// Time at which the token was created.
    pub created_at: Timestamp,
    /// Time at which the token expires.
    pub expires_at: Timestamp,
    /// Start of the hour in which the token was last used. `None` if the token was never used.
    pub last_used_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct ApiTokenList {
    tokens: Vec<ApiTokenView>,
}
