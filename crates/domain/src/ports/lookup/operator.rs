//! The port for the lists and counts of operators.

use crate::{
    AccountId, ApiKey, ApiKeyId, Handle, KeyStatus, Label, PartnerId, Timestamp, Webhook,
    WebhookId, WebhookStatus, ports::StoreError,
};

/// Reads the lists and counts of operators. Lists are newest first, and contain only rows older than `below`.
pub trait OperatorLookup {
    /// Lists up to `limit` accounts.
    fn accounts(
        &mut self,
        below: Option<&AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountSummary>, StoreError>;

    /// Finds an account, with its sessions that are valid at `now`.
    fn account(
        &mut self,
        id: &AccountId,
        now: Timestamp,
    ) -> Result<Option<AccountOverview>, StoreError>;

    /// Lists up to `limit` keys that match all conditions of the filter.
    fn keys(
        &mut self,
        filter: &KeyFilter,
        below: Option<&ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError>;

    /// Lists up to `limit` webhooks of a key, or of all keys of an account.
    fn webhooks(
        &mut self,
        owner: &WebhookOwner,
        below: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Vec<Webhook>, StoreError>;

    /// Counts the rows of the service. Counts envelopes and deliveries up to `counted_max`, and the messages of the days
    /// that begin at `since` or later.
    fn stats(&mut self, since: Timestamp, counted_max: u32) -> Result<ServiceStats, StoreError>;
}

/// An account in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSummary {
    /// The account.
    pub id: AccountId,
    /// The partner of the account.
    pub partner: Option<PartnerId>,
    /// Number of keys, including revoked keys.
    pub keys: u64,
    /// Time of opening.
    pub created_at: Timestamp,
    /// Time of closing; `None` while the account is open.
    pub closed_at: Option<Timestamp>,
    /// Time at which the names of the owner were erased.
    pub erased_at: Option<Timestamp>,
}

/// An account with its counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountOverview {
    /// The account.
    pub summary: AccountSummary,
    /// Number of valid sessions.
    pub sessions: u64,
    /// Number of webhooks of all keys.
    pub webhooks: u64,
}

/// The conditions of a list of keys. `None` matches every key.
#[derive(Debug, Clone, Default)]
pub struct KeyFilter {
    /// The owning account.
    pub account: Option<AccountId>,
    /// The handle that the key shows.
    pub handle: Option<Handle>,
    /// The complete label.
    pub label: Option<Label>,
    /// State of the key.
    pub status: Option<KeyStatus>,
    /// Name of the plan.
    pub plan: Option<String>,
}

/// The owner of webhooks in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookOwner {
    /// All keys of an account.
    Account(AccountId),
    /// One key.
    Key(ApiKeyId),
}

/// Counts of the whole service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceStats {
    /// Number of accounts.
    pub accounts: u64,
    /// Number of keys by state.
    pub keys_by_status: Vec<(KeyStatus, u64)>,
    /// Number of keys that are not revoked, by name of the plan.
    pub keys_by_plan: Vec<(String, u64)>,
    /// Number of webhooks by status.
    pub webhooks: Vec<(WebhookStatus, u64)>,
    /// Number of stored envelopes, up to the limit.
    pub envelopes: u64,
    /// Number of deliveries that wait for an attempt, up to the limit.
    pub waiting_deliveries: u64,
    /// Messages sent, by the daily counts. These follow the sends with a delay.
    pub sent: u64,
    /// Events delivered, by the daily counts.
    pub delivered: u64,
    /// Size of the whole database.
    pub database_bytes: u64,
}
