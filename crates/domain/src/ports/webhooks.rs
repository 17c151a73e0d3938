//! The ports for webhooks and the deliveries to them, as the owner of a key uses them.

use super::error::StoreError;
use crate::{
    ApiKeyId, Attempt, AttemptNumber, AttemptOutcome, DeliveryId, EventId, PendingDelivery,
    RetiringSecret, Timestamp, Webhook, WebhookId, Wrapped,
};

/// Reads the webhooks of a key, their deliveries, and the log of attempts.
pub trait WebhookLookup {
    /// Lists the webhooks of a key, oldest first.
    fn list_webhooks(&mut self, key: &ApiKeyId) -> Result<Vec<Webhook>, StoreError>;

    /// Reads up to `limit` pending deliveries (those waiting for an attempt), newest event first. If `below` is given,
    /// reads only deliveries of older events.
    ///
    /// Scans all pending deliveries of the webhook, so do not call this while other transactions wait for a lock.
    fn pending_deliveries(
        &mut self,
        id: &WebhookId,
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

    /// Disables a locked webhook, without a `disabled_reason`. Its deliveries wait until it is enabled.
    fn disable_webhook(&mut self, id: &WebhookId) -> Result<(), StoreError>;

    /// Enables a locked webhook, and clears its `failing_since` and `disabled_reason`.
    fn enable_webhook(&mut self, id: &WebhookId) -> Result<(), StoreError>;

    /// Replaces the current signing secret of a locked webhook, and the list of replaced secrets still in use.
    fn set_secrets(
        &mut self,
        id: &WebhookId,
        secret: &Wrapped,
        retiring: &[RetiringSecret],
    ) -> Result<(), StoreError>;

    /// Deletes a webhook of this key and a bounded number of its deliveries. Returns `false` if the key has no such
    /// webhook. The other deliveries and the attempts become invisible at once; housekeeping deletes them. An unopened
    /// envelope of a deleted delivery waits if it has no other deliveries. It bounces at `now` if all its other
    /// deliveries are exhausted.
    fn delete_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Makes deliveries to one webhook due before their scheduled time.
pub trait DeliveryRepo {
    /// Makes up to `limit` waiting deliveries due at `now`. Returns the number of changed deliveries.
    fn expedite_deliveries(
        &mut self,
        id: &WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Makes one delivery due at `now`. A waiting delivery keeps its number of attempts. A delivery whose last attempt
    /// failed starts again at the first attempt. A missing delivery is created. A leased delivery does not change.
    ///
    /// Returns `false` if the event is no longer stored, is not an event for the key `recipient`, or is of a kind that
    /// the webhook does not subscribe to.
    fn redeliver(
        &mut self,
        id: &DeliveryId,
        recipient: &ApiKeyId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Makes failed deliveries to a webhook due at `now`. `failed` selects them by the time of their newest failure;
    /// the oldest failures come first.
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
    /// Maximum number of deliveries to change.
    pub limit: u32,
    /// If true, only counts the matching deliveries and changes none.
    pub counted_only: bool,
}

/// The result of [`DeliveryRepo::recover_deliveries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverySummary {
    /// Number of matching deliveries, at most the limit.
    pub matched: u64,
    /// Number of deliveries made due.
    pub recovered: u64,
    /// True if more deliveries match than the limit.
    pub more: bool,
}
