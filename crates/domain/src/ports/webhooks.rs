//! Webhooks and what became of their deliveries, as their owners ask about and change them.

use super::StoreError;
use crate::{
    ApiKeyId, Attempt, AttemptNumber, AttemptOutcome, DeliveryId, EnvelopeId, PendingDelivery,
    RetiringSecret, Timestamp, Webhook, WebhookId, Wrapped,
};

/// What a key's owner may know of its webhooks and their deliveries.
pub trait WebhookLookup {
    /// The key's webhooks, oldest first.
    fn list_webhooks(&mut self, key: &ApiKeyId) -> Result<Vec<Webhook>, StoreError>;

    /// Up to `limit` deliveries that wait for an attempt, the newest envelope first, of envelopes older than `below`.
    /// Looks at all that wait: not for a transaction that others wait for.
    fn pending_deliveries(
        &mut self,
        id: &WebhookId,
        below: Option<&EnvelopeId>,
        limit: u32,
    ) -> Result<Vec<PendingDelivery>, StoreError>;

    /// Up to `limit` attempts, the newest first, of those before `below`.
    fn attempts(
        &mut self,
        id: &WebhookId,
        outcome: Option<AttemptOutcome>,
        below: Option<AttemptNumber>,
        limit: u32,
    ) -> Result<Vec<Attempt>, StoreError>;
}

/// Webhooks.
pub trait WebhookRepo {
    /// Adds a webhook.
    fn insert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError>;

    /// The webhook, if it is this key's; nobody else changes or deletes it until the transaction ends.
    fn lock_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Enables a webhook that was locked: nothing speaks against it any more.
    fn enable_webhook(&mut self, id: &WebhookId) -> Result<(), StoreError>;

    /// Replaces the signing secrets of a webhook that was locked.
    fn set_secrets(
        &mut self,
        id: &WebhookId,
        secret: &Wrapped,
        retiring: &[RetiringSecret],
    ) -> Result<(), StoreError>;

    /// Deletes a webhook of this key; `false` where the key has none with this id. A bounded part of its
    /// deliveries goes with it. The others are neither sent nor seen by anybody from then on, nor are its attempts, and
    /// housekeeping deletes them.
    fn delete_webhook(&mut self, key: &ApiKeyId, id: &WebhookId) -> Result<bool, StoreError>;
}

/// What may be done about the deliveries of one webhook.
pub trait DeliveryRepo {
    /// Makes up to `limit` deliveries due at `now` that wait for a later instant; how many.
    fn expedite_deliveries(
        &mut self,
        id: &WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Makes a delivery due at `now`: one that waits for its next attempt, one that was exhausted, with the whole
    /// schedule before it again, or a new one where there is none any more. `false` where the envelope is not kept or
    /// not addressed to `recipient`. One that a node holds stays as it is.
    fn redeliver(
        &mut self,
        id: &DeliveryId,
        recipient: &ApiKeyId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Makes due at `now` what failed in the given time and is not due yet, the oldest failure first.
    fn recover_deliveries(
        &mut self,
        id: &WebhookId,
        failed: &FailureRange,
        now: Timestamp,
    ) -> Result<RecoverySummary, StoreError>;
}

/// Deliveries whose newest failure lies in this time.
#[derive(Debug, Clone, Copy)]
pub struct FailureRange {
    /// From this instant on.
    pub since: Timestamp,
    /// Up to and with this one.
    pub until: Timestamp,
    /// How many at the most.
    pub limit: u32,
    /// Whether they are only to be counted.
    pub counted_only: bool,
}

/// What came of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverySummary {
    /// How many there were, up to the limit.
    pub matched: u64,
    /// How many are due now because of it.
    pub recovered: u64,
    /// Whether there are more than the limit.
    pub more: bool,
}
