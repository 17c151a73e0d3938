//! The ports between the use cases, the dispatcher and the database, for the delivery of events.

use std::time::Duration;

use super::error::StoreError;
use crate::{
    AttemptResult, DeliveryId, LeaseToken, LeasedDelivery, TestEvent, TestResult, Timestamp,
    WebhookId,
};

/// The delivery queue in the database, as the dispatcher uses it.
pub trait Outbox: Send + Sync {
    /// Leases up to `limit` deliveries that are due at `now`, including those with an expired lease. Deletes due
    /// deliveries whose webhook or event no longer exists. An unopened envelope with such a delivery bounces if its
    /// recipient's key is revoked, or if it has other deliveries and all of them are exhausted.
    fn claim(&self, claim: &Claim) -> Result<Vec<LeasedDelivery>, StoreError>;

    /// Records the outcomes of attempts. An outcome is ignored if its lease is no longer valid, so a stalled worker
    /// cannot overwrite the outcome of the next lease holder. Disables webhooks whose attempts all failed for
    /// `failing_max`. An envelope bounces if its last delivery is exhausted and none succeeded.
    fn record_outcomes(
        &self,
        results: &[AttemptResult],
        failing_max: Duration,
    ) -> Result<(), StoreError>;

    /// Releases leases that this node still holds and sets `due_at`. Counts no attempt.
    fn release(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        due_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Moves the due time of each delivery from `from` to `to`. Skips leased deliveries, and deliveries whose due time
    /// is no longer `from`.
    fn expedite(&self, expedited: &[ExpeditedDelivery]) -> Result<(), StoreError>;

    /// Returns the deleted and disabled webhooks among `of`.
    fn no_longer_enabled(&self, of: &[WebhookId]) -> Result<Vec<WebhookId>, StoreError>;
}

/// Parameters of a claim.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Current time.
    pub now: Timestamp,
    /// Maximum number of deliveries to lease.
    pub limit: usize,
    /// Maximum number of deliveries per webhook if other webhooks have due deliveries. A long backlog of one webhook
    /// leaves capacity for the others.
    pub per_target_max: usize,
    /// Webhooks that are skipped, because the dispatcher has not enough free memory for their deliveries.
    pub full: Vec<WebhookId>,
    /// Lease token for the claimed deliveries.
    pub lease: LeaseToken,
    /// End of the lease.
    pub lease_until: Timestamp,
}

/// A delivery to be attempted earlier than scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpeditedDelivery {
    /// The delivery.
    pub id: DeliveryId,
    /// Due time that the delivery must have now. A delivery with another due time is skipped.
    pub from: Timestamp,
    /// New due time.
    pub to: Timestamp,
}

/// The dispatcher, as the send path uses it.
pub trait Dispatch: Send + Sync {
    /// Returns the number of deliveries that the dispatcher can accept now.
    fn capacity(&self) -> usize;

    /// Returns the token and the end of a new lease.
    fn lease(&self) -> (LeaseToken, Timestamp);

    /// Accepts stored deliveries that this node has leased. Never blocks.
    fn submit(&self, deliveries: Vec<LeasedDelivery>);

    /// Sends a test event at once, without retries, and calls `finish` with the result. Never blocks. Returns `false`
    /// if too many test events are in progress. Drops `finish` if the dispatcher stops or the secrets cannot be
    /// decrypted.
    fn test(&self, event: TestEvent, finish: FinishTest) -> bool;
}

/// Receives the result of a test event.
pub type FinishTest = Box<dyn FnOnce(TestResult) + Send>;

/// Signs events as the service. Receivers verify the signature without a shared secret.
pub trait EventSigner: Send + Sync {
    /// Returns the Ed25519 signature over `content` by the current issuer key.
    fn sign_event(&self, content: &[u8]) -> [u8; 64];
}

/// Decides which URLs a webhook may use. May resolve a host name, so it may block for a bounded
/// time.
pub trait TargetGuard: Send + Sync {
    /// Returns the canonical form of an allowed URL. The error is a clause that follows "url".
    fn vet(&self, url: &str) -> Result<String, String>;
}
