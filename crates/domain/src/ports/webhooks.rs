//! The ports for webhooks and their deliveries, as the owner of a key uses them.

use super::error::StoreError;
use crate::{
    ApiKeyId, Attempt, AttemptNumber, AttemptOutcome, DeliveryId, EventId, PendingDelivery,
    RetiringSecret, Timestamp, Webhook, WebhookId, Wrapped,
};

/// Reads webhooks, deliveries and attempts.
pub trait WebhookLookup {
    /// Lists the key's webhooks, oldest first.
    fn list_webhooks(&mut self, key: &ApiKeyId) -> Result<Vec<Webhook>, StoreError>;

    /// Reads up to `limit` pending deliveries of events older than `below`, newest event first. `below: None` starts
    /// with the newest event. Scans all pending deliveries of the webhook: do not call this while other transactions
    /// wait for a lock.
    fn pending_deliveries(
        &mut self,
        id: &WebhookId,
        below: Option<&EventId>,
        limit: u32,
    ) -> Result<Vec<PendingDelivery>, StoreError>;

    /// Reads up to `limit` attempts, newest first. `outcome` selects attempts with this outcome. `below` selects
    /// attempts that are older.
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

    /// Finds a webhook of this key and locks it until the transaction ends.
    fn lock_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Finds a webhook of any key and locks it until the transaction ends.
    fn lock_webhook_of_any_key(&mut self, id: &WebhookId) -> Result<Option<Webhook>, StoreError>;

    /// Disables a locked webhook without a reason. Its deliveries are parked.
    fn disable_webhook(&mut self, id: &WebhookId) -> Result<(), StoreError>;

    /// Enables a locked webhook and clears its failure state.
    fn enable_webhook(&mut self, id: &WebhookId) -> Result<(), StoreError>;

    /// Replaces the signing secrets of a locked webhook.
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

/// Makes deliveries of one webhook due.
pub trait DeliveryRepo {
    /// Makes up to `limit` waiting deliveries due at `now`. Returns their number.
    fn expedite_deliveries(
        &mut self,
        id: &WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Makes a delivery due at `now`. A waiting delivery keeps its number of attempts; an exhausted one restarts the
    /// schedule; a missing one is created. A leased delivery stays unchanged. Returns `false` if the event is no longer
    /// stored or not addressed to `recipient`.
    fn redeliver(
        &mut self,
        id: &DeliveryId,
        recipient: &ApiKeyId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Makes failed deliveries within a time range due at `now`, oldest failure first.
    fn recover_deliveries(
        &mut self,
        id: &WebhookId,
        failed: &FailureRange,
        now: Timestamp,
    ) -> Result<RecoverySummary, StoreError>;
}

/// A range of deliveries, by the time of their newest failure.
#[derive(Debug, Clone, Copy)]
pub struct FailureRange {
    /// Start of the range, inclusive.
    pub since: Timestamp,
    /// End of the range, inclusive.
    pub until: Timestamp,
    /// Maximum number of deliveries.
    pub limit: u32,
    /// Whether to count the matching deliveries without a change.
    pub counted_only: bool,
}

/// The result of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverySummary {
    /// Number of matching deliveries, up to the limit.
    pub matched: u64,
    /// Number of deliveries that became due.
    pub recovered: u64,
    /// Whether more deliveries match than the limit.
    pub more: bool,
}
