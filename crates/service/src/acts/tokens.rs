//! API tokens: creation and listing by the owner of the account, revocation by the owner or an operator.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ActivityKind, ApiKeyId, ApiToken, ApiTokenId, KeyStatus, Label, Refusal,
    RequestSource, Timestamp, TokenScope, TokenScopes, ports::Durability,
};
use sealpost_wallet::{KeyToken, random};
use serde::Serialize;
use serde_json::json;

use super::{
    audited::{ActionRecord, Concerned, Operator, OperatorError},
    owner::ProvenOwner,
};
use crate::{
    account::Accounts,
    cache::key_cache::CacheEvent,
    caller::{bearer::BearerHash, credentials::AccountSession},
    error::Error,
    operator::lists::{ListPage, NO_OPEN_ACCOUNT},
    sealpost::core::Core,
};

/// The API token to create.
pub struct CreateApiToken {
    /// The only key that the token can act as.
    pub api_key_id: String,
    /// Display name of the token.
    pub name: Label,
    /// The requests that the token allows.
    pub scopes: TokenScopes,
    /// Lifetime of the token.
    pub expires_in: Duration,
}

/// A new API token.
#[derive(JsonSchema, Serialize)]
pub struct ApiTokenCreated {
    /// Id of the token, for its revocation.
    pub token_id: ApiTokenId,
    /// The value for `Authorization: Bearer`, shown only in this response.
    pub token: String,
    /// Display name of the token.
    pub name: Label,
    /// The only key that the token can act as.
    pub api_key_id: ApiKeyId,
    /// The requests that the token allows.
    #[schemars(with = "Vec<TokenScope>")]
    pub scopes: TokenScopes,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which the token expires.
    pub expires_at: Timestamp,
}

/// The API tokens of an account.
#[derive(JsonSchema, Serialize)]
pub struct ApiTokenList {
    /// The tokens that have not expired, oldest first.
    pub tokens: Vec<ApiTokenView>,
}

/// An API token, without its secret.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct ApiTokenView {
    /// Id of the token.
    pub token_id: ApiTokenId,
    /// Display name of the token.
    pub name: Label,
    /// The only key that the token can act as.
    pub api_key_id: ApiKeyId,
    /// The requests that the token allows.
    #[schemars(with = "Vec<TokenScope>")]
    pub scopes: TokenScopes,
    /// Time at which the token was created.
    pub created_at: Timestamp,
    /// Time at which the token expires.
    pub expires_at: Timestamp,
    /// Start of the hour of the last use; null if the token was never used.
    pub last_used_at: Option<Timestamp>,
}

/// A revoked API token.
#[derive(JsonSchema, Serialize)]
pub struct ApiTokenRevoked {
    /// Id of the token.
    pub token_id: ApiTokenId,
    /// Always `true`.
    #[schemars(extend("const" = true))]
    pub revoked: bool,
}

impl From<ApiToken> for ApiTokenView {
    fn from(token: ApiToken) -> Self {
        let ApiToken { id, token: _, account_id: _, api_key_id, .. } = token;
        Self {
            token_id: id,
            name: token.name,
            api_key_id,
            scopes: token.scopes,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used_at: token.last_used_at,
        }
    }
}

impl Accounts {
    /// Creates an API token for a key of the owner's account. Refuses an unknown or revoked key. Also refuses if the
    /// account has the maximum number of tokens.
    pub async fn create_api_token(
        &self,
        owner: ProvenOwner,
        create: CreateApiToken,
    ) -> Result<ApiTokenCreated, Error> {
        let create = move |accounts: &Self| {
            let account_id = owner.session.account_id;
            let CreateApiToken { api_key_id, name, scopes, expires_in } = create;
            let unknown = Refusal::KeyNotFound { field: Some("api_key_id") };
            let key_id = api_key_id
                .parse()
                .map_err(|_malformed| Refusal::for_id(&api_key_id, unknown.clone()))?;
            let text = KeyToken::generate()?;
            let now = accounts.core.clock.now();
            let token = ApiToken {
                id: ApiTokenId::new(now, random()?),
                token: text.hash(),
                account_id,
                api_key_id: key_id,
                name,
                scopes,
                created_at: now,
                expires_at: now.plus(expires_in),
                last_used_at: None,
            };
            let limit = accounts.core.settings.api_tokens_per_account_max;
            accounts.act_as_owner(&owner, "creating an API token", |tx| {
                // The account stays locked until the commit: concurrent creations wait, so the limit of tokens holds.
                let key = tx.find_key(&key_id)?.filter(|key| key.account_id == account_id);
                let key = key.ok_or_else(|| unknown.clone())?;
                if key.status == KeyStatus::Revoked {
                    return Err(Refusal::KeyInactive {
                        status: key.status,
                        field: Some("api_key_id"),
                    }
                    .into());
                }
                if tx.count_api_tokens(&account_id, now)? >= u64::from(limit) {
                    let (what, way_out) =
                        ("API tokens in this account", "revoke one that is no longer used");
                    return Err(Refusal::QuotaExceeded { limit, what, way_out }.into());
                }
                tx.insert_api_token(&token)?;
                let detail = Some(format!("{} for {key_id}", token.id));
                accounts.core.record(tx, &owner.origin(), ActivityKind::TokenCreated, detail)?;
                Ok(())
            })?;
            Ok(ApiTokenCreated {
                token_id: token.id,
                token: text.expose().to_owned(),
                name: token.name,
                api_key_id: token.api_key_id,
                scopes: token.scopes,
                created_at: token.created_at,
                expires_at: token.expires_at,
            })
        };
        self.core.block(self, create).await
    }

    /// Lists the API tokens of the session's account that have not expired.
    pub async fn api_tokens(&self, session: &AccountSession) -> Result<ApiTokenList, Error> {
        let account_id = session.account_id;
        let list = move |core: &Arc<Core>| {
            let now = core.clock.now();
            let tokens = core.store.read(|reader| reader.api_tokens_of(&account_id, now))?;
            // Adds the uses that this node has queued. Storing them now would store the uses of all accounts.
            let view = |mut token: ApiToken| {
                let queued = core.bearer_uses.queued(&BearerHash::ApiToken(token.token));
                token.last_used_at = token.last_used_at.max(queued);
                ApiTokenView::from(token)
            };
            Ok(ApiTokenList { tokens: tokens.into_iter().map(view).collect() })
        };
        self.core.block(&self.core, list).await
    }

    /// Revokes an API token of the session's account. After this call, all nodes refuse requests with the token.
    /// Refuses an unknown token, and a token of another account.
    pub async fn revoke_api_token(
        &self,
        session: &AccountSession,
        token_id: String,
        source: RequestSource,
    ) -> Result<ApiTokenRevoked, Error> {
        let session = *session;
        let revoke = move |core: &Arc<Core>| {
            let id = token_id
                .parse()
                .map_err(|_malformed| Refusal::for_id(&token_id, Refusal::TokenNotFound))?;
            let revoked = core.store.write(Durability::Durable, |tx| {
                let revoked = tx.delete_api_token(&id, Some(&session.account_id))?;
                if revoked.is_some() {
                    let (origin, detail) = (session.act_from(&source), Some(id.to_string()));
                    core.record(tx, &origin, ActivityKind::TokenRevoked, detail)?;
                }
                Ok(revoked)
            })?;
            let revoked = revoked.ok_or(Refusal::TokenNotFound)?;
            core.cache.invalidate_on(CacheEvent::SessionEnded(&revoked.token));
            Ok(ApiTokenRevoked { token_id: revoked.id, revoked: true })
        };
        self.core.block(&self.core, revoke).await
    }
}

impl Operator {
    /// Lists the API tokens of an account that have not expired. Fails if the account does not exist or is closed.
    pub fn api_tokens(&self, account: &AccountId) -> Result<ListPage<ApiTokenView>, OperatorError> {
        let now = self.clock.now();
        if !self.store.read(|reader| reader.is_open_account(account))? {
            return Err(NO_OPEN_ACCOUNT);
        }
        let tokens = self.store.read(|reader| reader.api_tokens_of(account, now))?;
        let entries = tokens.into_iter().map(ApiTokenView::from).collect();
        Ok(ListPage { entries, more: false })
    }

    /// Revokes an API token. Afterwards, all nodes refuse requests with the token. Fails if there is no such token.
    pub fn revoke_api_token(&self, id: &ApiTokenId) -> Result<ApiTokenView, OperatorError> {
        self.perform(|tx| {
            let deleted = tx.delete_api_token(id, None)?;
            let token = deleted.ok_or(OperatorError::NotFound("such API token"))?;
            let detail = json!({"account_id": token.account_id, "api_key_id": token.api_key_id});
            let concerned = Concerned::Account(token.account_id);
            let record = ActionRecord::new("token.revoke", id, concerned, detail);
            Ok((ApiTokenView::from(token), record))
        })
    }
}
