//! The ports for webhooks and the deliveries to them, as the owner of a key uses them.

use crate::ports::error::StoreError;
use crate::{
    ApiKeyId, Attempt, AttemptNumber, AttemptOutcome, DeliveryId, EventId, PendingDelivery,
    RetiringSecret, Timestamp, Webhook, WebhookId, Wrapped,
};

/// Reads the webhooks of a key, their deliveries, and the log of attempts.
pub trait WebhookLookup {
    /// Lists the webhooks of a key, oldest first.
    fn list_webhooks(&mut self, key: &ApiKeyId) -> Result<Vec<Webhook>, StoreError>;

    /// Reads up to `limit` pending deliveries (those waiting for an attempt) of events from `oldest` on, newest event
    /// first. If `below` is given, reads only deliveries of older events.
    ///
    /// Scans all pending deliveries of the webhook. Do not call this in a transaction that holds locks, because other
    /// transactions would wait for the whole scan.
    fn pending_deliveries(
        &mut self,
        id: &WebhookId,
        oldest: Timestamp,
        below: Option<&EventId>,
        limit: u32,
    ) -> Result<Vec<PendingDelivery>, StoreError>;

    /// Reads up to `limit` attempts at a webhook from the log, newest first. If `outcome` is given, reads only attempts
    /// with this outcome. If `below` is given, reads only older attempts.
    fn attempts(
        &mut self,
        id: &WebhookId,
        outcome: Option<AttemptOutcome>,
        below: Option<AttemptNumber>,
        limit: u32,
    ) -> Result<Vec<Attempt>, StoreError>;
}

/// Inserts, changes and deletes webhooks.
pub trait WebhookRepo {
    /// Inserts a webhook.
    fn insert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError>;

    /// Finds a webhook of the given key, and locks it until the transaction ends. `None` if the key has no such
    /// webhook.
    fn lock_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Finds a webhook of any key, and locks it until the transaction ends. `None` if it does not exist.
    fn lock_webhook_of_any_key(&mut self, id: &WebhookId) -> Result<Option<Webhook>, StoreError>;

    /// Disables a locked webhook at an operator's request, so `disabled_reason` stays empty. Deliveries to the webhook
    /// wait until it is enabled. Stores an event for the account's other webhooks.
    fn disable_webhook(&mut self, id: &WebhookId, now: Timestamp) -> Result<(), StoreError>;

    /// Enables a locked webhook, and clears its `failing_since` and `disabled_reason`.
    fn enable_webhook(&mut self, id: &WebhookId) -> Result<(), StoreError>;

    /// Stores the URL, the events, the description and the pause of a locked webhook. Its other data stay unchanged.
    fn update_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError>;

    /// Replaces the signing secrets of a locked webhook: the current one, and the list of replaced ones that are still
    /// in use.
    fn set_secrets(
        &mut self,
        id: &WebhookId,
        secret: &Wrapped,
        retiring: &[RetiringSecret],
    ) -> Result<(), StoreError>;

    /// Deletes a webhook of this key and a bounded number of its deliveries. Returns `false` if the key has no such
    /// webhook. The other deliveries and all attempts of the webhook become invisible at once, and housekeeping deletes
    /// them later.
    ///
    /// If a deleted delivery belongs to an unopened envelope, the other deliveries of this envelope decide its state:
    /// - If the envelope has no other deliveries, it waits for a later webhook.
    /// - If all other deliveries are exhausted (their last attempt failed), the envelope bounces at `now` (its sender
    ///   gets an event).
    fn delete_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Makes deliveries to one webhook due before their scheduled time.
pub trait DeliveryRepo {
    /// Makes deliveries of events from `oldest` on due at `now` if they wait for a later attempt at a webhook. Changes
    /// at most `limit` deliveries, and returns their number.
    fn expedite_deliveries(
        &mut self,
        id: &WebhookId,
        oldest: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Makes the delivery of one event to one webhook due at `now`:
    /// - If the delivery waits for its next attempt, its number of attempts stays.
    /// - If its last attempt failed, it starts again with the first attempt.
    /// - If it is leased, an attempt may be under way. It becomes due when the lease ends, whatever the outcome is.
    /// - If it does not exist, it is created.
    ///
    /// Returns `false` if the event is no longer stored, is not an event for the key `recipient`, or is of a kind that
    /// the webhook does not subscribe to.
    fn redeliver(
        &mut self,
        id: &DeliveryId,
        recipient: &ApiKeyId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Makes leased deliveries due at `now` if the attempts under way fail. `failed` selects the deliveries by the time
    /// of their newest failure. Leases that end after `lease_end` are skipped.
    fn recover_leased(
        &mut self,
        id: &WebhookId,
        failed: &FailureRange,
        now: Timestamp,
        lease_end: Timestamp,
    ) -> Result<(), StoreError>;

    /// Makes failed deliveries to a webhook due at `now`, beginning with the oldest failure. `failed` selects the
    /// deliveries by the time of their newest failure. Skips deliveries that are due or leased.
    fn recover_deliveries(
        &mut self,
        id: &WebhookId,
        failed: &FailureRange,
        now: Timestamp,
    ) -> Result<RecoverySummary, StoreError>;
}

/// Selects deliveries by the time of their newest failure.
#[derive(Debug, Clone, Copy)]
pub struct FailureRange {
    /// Earliest time of the failure, inclusive.
    pub since: Timestamp,
    /// Latest time of the failure, inclusive.
    pub until: Timestamp,
    /// Earlier events have expired, and are not selected.
    pub oldest: Timestamp,
    /// Maximum number of deliveries to change.
    pub limit: u32,
    /// If true, only counts the matching deliveries and changes none.
    pub counted_only: bool,
}

/// The result of [`DeliveryRepo::recover_deliveries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverySummary {
    /// Number of deliveries that match the range, at most its limit.
    pub matched: u64,
    /// Number of deliveries that this call made due.
    pub recovered: u64,
    /// True if more deliveries match the range than its limit.
    pub more: bool,
}
