//! The lists and statistics that operators and owners read.

use crate::{
    AccountId, ApiKey, ApiKeyId, EventKind, GovernanceStanding, Handle, KeyStatus, Label,
    PartnerId, Timestamp, Usage, WebhookStatus,
};

/// An account in the operators' list of accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSummary {
    /// Id of the account.
    pub id: AccountId,
    /// The partner of the account, assigned by an operator. `None` if there is none.
    pub partner: Option<PartnerId>,
    /// Number of API keys, including revoked keys.
    pub keys: u64,
    /// Time at which the account was created.
    pub created_at: Timestamp,
    /// Time of closing; `None` while the account is open.
    pub closed_at: Option<Timestamp>,
    /// Time at which the personal data of the owner was erased; `None` if it was not erased.
    pub erased_at: Option<Timestamp>,
}

/// An account, with the numbers of its keys, sessions and webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountOverview {
    /// The account and the number of its keys.
    pub summary: AccountSummary,
    /// Number of unexpired sessions.
    pub sessions: u64,
    /// Number of webhooks of all keys of the account.
    pub webhooks: u64,
}

/// The conditions for a list of keys. A key must meet every condition that is not `None`.
#[derive(Debug, Clone, Default)]
pub struct KeyFilter {
    /// The account that owns the key.
    pub account: Option<AccountId>,
    /// The handle that the API shows for the key.
    pub handle: Option<Handle>,
    /// The whole display name of the key, not a part of it.
    pub label: Option<Label>,
    /// Status of the key.
    pub status: Option<KeyStatus>,
    /// Name of the plan.
    pub plan: Option<String>,
}

/// The account or key whose webhooks are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookOwner {
    /// The webhooks of all keys of an account.
    Account(AccountId),
    /// The webhooks of one API key.
    Key(ApiKeyId),
}

/// Statistics of the whole service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceStats {
    /// Number of accounts.
    pub accounts: u64,
    /// Number of API keys with each status.
    pub keys_by_status: Vec<(KeyStatus, u64)>,
    /// Number of API keys on each plan, by name of the plan. Revoked keys are not counted.
    pub keys_by_plan: Vec<(String, u64)>,
    /// Number of webhooks with each status.
    pub webhooks: Vec<(WebhookStatus, u64)>,
    /// Number of stored envelopes. Counting stops at a limit, so the number can be too low.
    pub envelopes: u64,
    /// Number of deliveries that wait for their next attempt. Counting stops at the same limit.
    pub waiting_deliveries: u64,
    /// Number of sent messages, as the sum of daily counts. Housekeeping adds new messages to the daily counts with a
    /// delay.
    pub sent: u64,
    /// Number of delivered events, as the sum of daily counts.
    pub delivered: u64,
    /// Size of the whole database in bytes.
    pub database_bytes: u64,
}

/// An API key, with its usage counters and governance decisions.
#[derive(Debug, Clone)]
pub struct KeyOverview {
    /// The API key.
    pub key: ApiKey,
    /// Usage counters of the key.
    pub usage: Usage,
    /// Proposed and enforced governance decisions (blocks by operators) on the key, its account and its partner.
    pub standing: GovernanceStanding,
    /// Number of webhooks of the key.
    pub webhooks: u64,
    /// Number of envelopes that wait until the key has a webhook for received envelopes.
    pub waiting: u64,
}

/// The kind and the sender of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSource {
    /// The kind of the event.
    pub kind: EventKind,
    /// The sender of a received envelope. `None` for an event of any other kind.
    pub sender: Option<ApiKeyId>,
}

/// Activity of one API key on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyCount {
    /// Start of the UTC day.
    pub day: Timestamp,
    /// Number of envelopes sent by the key.
    pub sent: u64,
    /// Number of envelopes sent to the key.
    pub received: u64,
    /// Number of events delivered to the key's webhooks.
    pub delivered: u64,
}

impl DailyCount {
    /// Adds the counts of `other`, which has the same key and day.
    pub(super) fn add(&mut self, other: &Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
        self.delivered = self.delivered.saturating_add(other.delivered);
    }
}
