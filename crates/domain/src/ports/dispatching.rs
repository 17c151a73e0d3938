//! What the dispatcher asks of a database, and what the use cases ask of it and of what stands around it.

use std::time::Duration;

use super::StoreError;
use crate::{AttemptResult, DeliveryId, LeaseToken, LeasedDelivery, Timestamp, WebhookId};

/// The deliveries that are due: what the dispatcher asks of a database.
pub trait Outbox: Send + Sync {
    /// Takes up to `limit` deliveries that are due at `now`, and holds them until `lease_until` under `lease`.
    /// A delivery whose lease ran out is due. One whose webhook or envelope is gone is deleted instead.
    fn claim(&self, claim: &Claim) -> Result<Vec<LeasedDelivery>, StoreError>;

    /// Writes outcomes down, each only where its lease still holds: a worker that stalled past its lease cannot
    /// overwrite its successor. A webhook that has met nothing but failures for `failing_max` is disabled.
    fn settle(&self, results: &[AttemptResult], failing_max: Duration) -> Result<(), StoreError>;

    /// Gives deliveries back that are still held: held by nobody, and due at `due_at`. No attempt is counted.
    fn release(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        due_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Moves the time at which deliveries are due: of those alone that nobody holds and that are still due when they are
    /// said to be. What became of the others meanwhile stands.
    fn expedite(&self, expedited: &[ExpeditedDelivery]) -> Result<(), StoreError>;

    /// Which of these webhooks get nothing any more: those that are gone, and those that are disabled.
    fn no_longer_enabled(&self, of: &[WebhookId]) -> Result<Vec<WebhookId>, StoreError>;
}

/// What a claim takes.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// The present instant.
    pub now: Timestamp,
    /// How many at the most.
    pub limit: usize,
    /// How many of one target at the most, so that one with a long queue leaves room for the others.
    pub per_target_max: usize,
    /// The proof that this claim's deliveries will carry.
    pub lease: LeaseToken,
    /// When others may take them.
    pub lease_until: Timestamp,
}

/// A delivery that is due sooner than was said when it was given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpeditedDelivery {
    /// Which delivery.
    pub id: DeliveryId,
    /// When it was to be due.
    pub from: Timestamp,
    /// When it is due instead.
    pub to: Timestamp,
}

/// The dispatcher, as the send path sees it.
pub trait Dispatch: Send + Sync {
    /// How many deliveries it has room for.
    fn capacity(&self) -> usize;

    /// A fresh proof for deliveries that are about to be stored, and until when they may be held.
    fn lease(&self) -> (LeaseToken, Timestamp);

    /// Takes deliveries that are stored and leased to this node. Never blocks.
    fn submit(&self, deliveries: Vec<LeasedDelivery>);
}

/// The service's own signature, by which a receiver can verify a notice without a shared secret.
pub trait EventSigner: Send + Sync {
    /// Ed25519 over `content`, by the issuer key that signs at present.
    fn sign_event(&self, content: &[u8]) -> [u8; 64];
}

/// Judges where a webhook may lead. May resolve a name, and so block for a bounded time.
pub trait TargetGuard: Send + Sync {
    /// The canonical form of an acceptable URL, or what is wrong with it as a clause that follows "url".
    fn vet(&self, url: &str) -> Result<String, String>;
}
