//! The port for lookups that fill caches.

mod operator;

use super::{
    badges::BadgeLookup, envelopes::ReceiptLookup, error::StoreError, policies::PolicyLookup,
    waiting::WaitingLookup, webhooks::WebhookLookup,
};
use crate::{
    AccountId, ApiKey, ApiKeyId, ApiToken, Handle, IssuerKey, KeyStatus, Session, Timestamp,
    TokenHash,
};

pub use operator::{
    AccountOverview, AccountSummary, KeyFilter, OperatorLookup, ServiceStats, WebhookOwner,
};

/// Reads the rows that caches hold.
pub trait Lookup:
    BadgeLookup + PolicyLookup + ReceiptLookup + WaitingLookup + WebhookLookup
{
    /// Finds the session of a token, including an expired one; `None` after a logout.
    fn find_session(&mut self, token: &TokenHash) -> Result<Option<Session>, StoreError>;

    /// Finds the sessions of many tokens, in no particular order. Unknown tokens are left out.
    fn find_sessions(&mut self, tokens: &[TokenHash]) -> Result<Vec<Session>, StoreError>;

    /// Finds the API tokens with these hashes, including expired ones, in no particular order. Unknown tokens are left
    /// out.
    fn find_api_tokens(&mut self, tokens: &[TokenHash]) -> Result<Vec<ApiToken>, StoreError>;

    /// Lists the API tokens of an account that have not expired at `now`, oldest first.
    fn api_tokens_of(
        &mut self,
        account: &AccountId,
        now: Timestamp,
    ) -> Result<Vec<ApiToken>, StoreError>;

    /// Finds a key, including a revoked one; `None` if it was never issued.
    fn find_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Reads snapshots of the existing keys among `ids`, in no particular order.
    fn find_key_snapshots(&mut self, ids: &[ApiKeyId]) -> Result<Vec<KeySnapshot>, StoreError>;

    /// Finds the owner of a handle, even if its key is revoked; `None` if the handle is free.
    fn find_handle(&mut self, handle: &Handle) -> Result<Option<HandleOwner>, StoreError>;

    /// Finds the hash of the account's login secret.
    fn find_login_secret(&mut self, account: &AccountId) -> Result<Option<TokenHash>, StoreError>;

    /// Finds the hash of the account's recovery code; `None` if the account or its code does not exist.
    fn find_recovery_code(&mut self, account: &AccountId) -> Result<Option<TokenHash>, StoreError>;

    /// Returns the last time that the login secret was given in a session; `None` if it never was, or if the session
    /// has ended.
    fn session_confirmed_at(&mut self, token: &TokenHash) -> Result<Option<Timestamp>, StoreError>;

    /// Lists all issuer keys, ordered by the start of their use.
    fn issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError>;
}

/// The fields of a key that decide whether its cached secrets and channels are still valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySnapshot {
    /// The key.
    pub id: ApiKeyId,
    /// State of the key. New channels need active keys. Caches hold no secrets of revoked keys.
    pub status: KeyStatus,
    /// Version of the newest sealing key. New channels and envelopes use it.
    pub sealing_version: u32,
}

/// The owner of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleOwner {
    /// The account that the handle is reserved for.
    pub account_id: AccountId,
    /// The key that the handle resolves to.
    pub api_key_id: ApiKeyId,
}
