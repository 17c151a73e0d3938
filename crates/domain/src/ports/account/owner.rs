//! The port that reads the data on the dashboard of an account's owner. The caller must have authenticated the owner.

use std::collections::HashMap;

use crate::ports::error::StoreError;
use crate::{
    AccountId, Activity, ActivityId, ActivityKind, ApiKey, ApiKeyId, Attempt, AttemptNumber,
    AttemptTiming, Event, EventId, EventKind, GovernanceStanding, PendingDelivery, SessionDetails,
    Timestamp, Usage, Webhook, WebhookId,
};

/// Reads the data on the dashboard of an account's owner. An envelope waits if its recipient's key has no webhook for
/// received envelopes.
pub trait OwnerLookup {
    /// Lists up to `limit` keys of the account, newest first, with revoked keys after all others. For each key, counts
    /// the waiting envelopes that were sealed at `oldest` or later, at most `waiting_max`.
    fn keys_of(
        &mut self,
        account: &AccountId,
        limit: u32,
        oldest: Timestamp,
        waiting_max: u32,
    ) -> Result<Vec<KeyOverview>, StoreError>;

    /// Finds one key of the account; `None` if the account has no such key. Counts the waiting envelopes of the key that
    /// were sealed at `oldest` or later, at most `waiting_max`.
    fn key_of(
        &mut self,
        account: &AccountId,
        id: &ApiKeyId,
        oldest: Timestamp,
        waiting_max: u32,
    ) -> Result<Option<KeyOverview>, StoreError>;

    /// Lists up to `limit` sessions of the account that are valid at `now`, latest expiry first.
    fn sessions_of(
        &mut self,
        account: &AccountId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<SessionDetails>, StoreError>;

    /// Reads up to `limit` entries of the account's activity log, newest first. If `below` is given, reads only entries
    /// older than this entry.
    fn activity_of(
        &mut self,
        account: &AccountId,
        below: Option<&ActivityId>,
        limit: u32,
    ) -> Result<Vec<Activity>, StoreError>;

    /// Counts the entries of this kind in the account's activity log, from `since` on. Stops counting at `limit`.
    fn count_activity(
        &mut self,
        account: &AccountId,
        kind: ActivityKind,
        since: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Reads the daily counts of a key for days that begin at `since` or later, oldest first. Omits days without
    /// activity.
    ///
    /// Housekeeping adds rows to the daily counts some time after they were written. Therefore this method also counts
    /// rows that housekeeping has not counted yet: the newest envelopes of the service and the newest successful
    /// attempts of the key, up to `uncounted_max` of each.
    fn daily_counts(
        &mut self,
        key: &ApiKeyId,
        since: Timestamp,
        uncounted_max: u32,
    ) -> Result<Vec<DailyCount>, StoreError>;

    /// Lists up to `limit` webhooks of the account that are disabled, or failed at their newest attempts. Begins with
    /// the webhook that has failed for the longest time. Webhooks that the owner or an operator disabled come last.
    fn unhealthy_webhooks(
        &mut self,
        account: &AccountId,
        limit: u32,
    ) -> Result<Vec<Webhook>, StoreError>;

    /// Reads the newest attempts at a webhook that ended at or after `since`, newest first, up to `limit`.
    fn recent_attempts(
        &mut self,
        id: &WebhookId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<AttemptTiming>, StoreError>;

    /// Returns the number at which the attempts that ended at `at` or later begin in the log. The number is approximate if
    /// the clocks of nodes differ.
    fn first_attempt_at(&mut self, at: Timestamp) -> Result<AttemptNumber, StoreError>;

    /// Finds an event of a key. `None` if the key has no such event, or if it is no longer stored.
    fn find_event(&mut self, key: &ApiKeyId, id: &EventId) -> Result<Option<Event>, StoreError>;

    /// Finds the kinds and the senders of events. Omits events that are no longer stored, and events of unknown kinds.
    fn event_sources(
        &mut self,
        ids: &[EventId],
    ) -> Result<HashMap<EventId, EventSource>, StoreError>;

    /// Reads up to `limit` attempts to deliver an event to these webhooks, newest first.
    fn attempts_at_event(
        &mut self,
        webhooks: &[WebhookId],
        id: &EventId,
        limit: u32,
    ) -> Result<Vec<(WebhookId, Attempt)>, StoreError>;

    /// Reads the pending deliveries of an event to these webhooks.
    fn pending_at_event(
        &mut self,
        webhooks: &[WebhookId],
        event: &Event,
    ) -> Result<Vec<(WebhookId, PendingDelivery)>, StoreError>;

    /// Counts the pending deliveries of events from `oldest` on to the key's webhooks, up to `limit`. A pending delivery
    /// waits for an attempt.
    fn count_pending(
        &mut self,
        key: &ApiKeyId,
        oldest: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;
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
