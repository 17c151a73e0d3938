//! The port for reads of sessions, API keys, handles and issuer keys, mostly to fill caches.

mod operator;

use super::{
    badges::BadgeLookup,
    delivery::{WaitingLookup, WebhookLookup},
    envelopes::ReceiptLookup,
    error::StoreError,
    housekeeping::CountLookup,
    policies::PolicyLookup,
    relays::RelayLookup,
};
use crate::{
    AccountId, ApiKey, ApiKeyId, ApiToken, Handle, IssuerKey, KeyStatus, Session, Timestamp,
    TokenHash,
};

pub use operator::{
    AccountOverview, AccountSummary, KeyFilter, OperatorLookup, ServiceStats, WebhookOwner,
};

/// Reads sessions, API keys, handles and issuer keys. The service caches most of these rows.
pub trait Lookup:
    BadgeLookup
    + CountLookup
    + PolicyLookup
    + ReceiptLookup
    + RelayLookup
    + WaitingLookup
    + WebhookLookup
{
    /// Finds the session of a token, even if the session has expired. `None` after a logout.
    fn find_session(&mut self, token: &TokenHash) -> Result<Option<Session>, StoreError>;

    /// Finds the sessions of many tokens, in any order. Omits unknown tokens.
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

    /// Finds an API key, even if the key is revoked. `None` if no key has this id.
    fn find_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Reads snapshots of the given keys, in any order. Omits missing keys.
    fn find_key_snapshots(&mut self, ids: &[ApiKeyId]) -> Result<Vec<KeySnapshot>, StoreError>;

    /// Finds the key and the account that own a handle, even if the key is revoked. `None` if the handle is free.
    fn find_handle(&mut self, handle: &Handle) -> Result<Option<HandleOwner>, StoreError>;

    /// Finds the hash of the account's login secret. `None` if the account does not exist.
    fn find_login_secret(&mut self, account: &AccountId) -> Result<Option<TokenHash>, StoreError>;

    /// Finds the hash of the account's recovery code. `None` if the account does not exist or has no recovery code.
    fn find_recovery_code(&mut self, account: &AccountId) -> Result<Option<TokenHash>, StoreError>;

    /// Returns the time at which the client last entered the login secret again in a session. `None` if the secret was
    /// never entered again, or if the session does not exist.
    fn session_confirmed_at(&mut self, token: &TokenHash) -> Result<Option<Timestamp>, StoreError>;

    /// Lists all issuer keys, ordered by the start of signing.
    fn issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError>;
}

/// The fields of an API key that decide whether its cached secrets and channels are still valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySnapshot {
    /// Id of the API key.
    pub id: ApiKeyId,
    /// Status of the key. New channels need active keys, and secrets of revoked keys must not be cached.
    pub status: KeyStatus,
    /// Version of the newest sealing key (the key pair to which messages are encrypted), for new envelopes and
    /// channels.
    pub sealing_version: u32,
}

/// The owner of a handle (readable name of an API key).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleOwner {
    /// The account that owns the key. After the key is revoked, the handle stays reserved for this account.
    pub account_id: AccountId,
    /// The API key with this handle.
    pub api_key_id: ApiKeyId,
}
