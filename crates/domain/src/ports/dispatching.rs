//! The ports for the delivery of events to webhooks: between the service, the dispatcher (the sender of the requests)
//! and the database.

use std::{collections::HashSet, time::Duration};

use crate::ports::{relays::Relays, store::StoreError};
use crate::{
    AttemptResult, DeliveryId, EventId, LeaseToken, LeasedDelivery, Target, TestEvent, TestResult,
    Timestamp, WebhookId,
};

/// The queue of deliveries in the database. A dispatcher leases deliveries and records their outcomes.
pub trait Outbox: Send + Sync {
    /// Leases up to `claim.limit` deliveries that are due at `claim.now` and have no unexpired lease. Deletes due
    /// deliveries whose webhook or event is no longer stored, which can make their envelopes
    /// [bounce](crate::UnopenedEnvelope::fate).
    fn claim(&self, claim: &Claim) -> Result<Vec<LeasedDelivery>, StoreError>;

    /// Records the outcomes of attempts. Ignores an outcome if its lease is no longer valid, so a stalled worker cannot
    /// overwrite the outcome of the next lease holder.
    ///
    /// Disables a webhook if its receiver responded with status 410, or if its attempts have all failed for
    /// `failing_max`. An envelope whose last possible attempt failed can
    /// [bounce](crate::UnopenedEnvelope::fate): its sender gets an event.
    fn record_outcomes(
        &self,
        results: &[AttemptResult],
        failing_max: Duration,
    ) -> Result<(), StoreError>;

    /// Records outcomes after [`record_outcomes`](Self::record_outcomes) has failed repeatedly. Changes the deliveries,
    /// but neither the log of attempts nor the health of webhooks.
    fn record_unlogged(&self, results: &[AttemptResult]) -> Result<(), StoreError>;

    /// Releases the leases that this node still holds on the given deliveries, and makes these deliveries due at
    /// `due_at`. The numbers of attempts do not change.
    fn release(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        due_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Ends the leases that this node still holds on deliveries to relays (webhooks whose receivers connect to the
    /// service), because the relays have no connection to this node. The deliveries wait until a node with a connection
    /// leases them. The numbers of attempts do not change.
    fn await_relay(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the relays with deliveries that wait for a connection and became due from `since` to `now`. Reads at
    /// most `limit` deliveries, newest first.
    fn relay_arrivals(
        &self,
        since: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<HashSet<WebhookId>, StoreError>;

    /// Returns up to `limit` relays with deliveries that wait for a connection, sorted by webhook id. If `after` is
    /// given, returns only relays with greater ids.
    fn relays_waiting(
        &self,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<Vec<WebhookId>, StoreError>;

    /// Leases due deliveries that wait for a connection of one of the relays `webhooks`. Takes the oldest deliveries of
    /// each relay, at most `claim.per_target_max` per relay.
    fn claim_relays(
        &self,
        webhooks: &[WebhookId],
        claim: &Claim,
    ) -> Result<Vec<LeasedDelivery>, StoreError>;

    /// Finds deliveries that wait for a connection although the URL of their webhook has changed, so that it is no
    /// longer a relay. Makes up to `limit` of these deliveries claimable by all nodes, and returns their number.
    fn leave_relays(&self, limit: usize) -> Result<usize, StoreError>;

    /// Changes the due time of each delivery from `from` to `to`. Skips leased deliveries, and deliveries whose due
    /// time is no longer `from`.
    fn expedite(&self, expedited: &[ExpeditedDelivery]) -> Result<(), StoreError>;

    /// Reads the current URLs and signing secrets of the given webhooks. Leaves out webhooks that are deleted, disabled
    /// or paused.
    fn active_targets(&self, of: &[WebhookId]) -> Result<Vec<Target>, StoreError>;
}

/// Parameters of [`Outbox::claim`]: the dispatcher's request to lease due deliveries.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Current time.
    pub now: Timestamp,
    /// Time before which events have expired. Deliveries of expired events are not leased.
    pub oldest: Timestamp,
    /// Maximum number of deliveries to lease in this call.
    pub limit: usize,
    /// Maximum number of deliveries to lease for one webhook if other webhooks also have due deliveries. This limit
    /// leaves capacity for the other webhooks when one webhook has a long backlog.
    pub per_target_max: usize,
    /// Webhooks to skip, because the dispatcher has no memory left for their deliveries.
    pub full: Vec<WebhookId>,
    /// Lease token to store with the leased deliveries.
    pub lease: LeaseToken,
    /// End of the new lease. Afterwards any node may lease the deliveries again.
    pub lease_until: Timestamp,
}

/// A change of a delivery's due time to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpeditedDelivery {
    /// The delivery to change.
    pub id: DeliveryId,
    /// The due time before the change. A delivery with another due time is skipped.
    pub from: Timestamp,
    /// The due time after the change.
    pub to: Timestamp,
}

/// The dispatcher, as the service uses it. The dispatcher sends the requests to webhooks.
pub trait Dispatch: Send + Sync {
    /// Returns the number of deliveries that the dispatcher can accept now.
    fn capacity(&self) -> usize;

    /// Returns the token and the end of a new lease, to be stored with new deliveries.
    fn lease(&self) -> (LeaseToken, Timestamp);

    /// Returns the connections of relays to this node.
    fn relays(&self) -> &dyn Relays;

    /// Queues deliveries that are stored and leased to this node. Never blocks.
    fn submit(&self, deliveries: Vec<LeasedDelivery>);

    /// Sends a test event at once and without retries, and calls `finish` with the result. Never blocks.
    ///
    /// Returns `false` if too many test events are in progress. If the dispatcher stops, or cannot decrypt the signing
    /// secrets or build the request, drops `finish` without calling it.
    fn test(&self, event: TestEvent, finish: FinishTest) -> bool;

    /// Returns the value of the header `webhook-signature` for a request to `target`, signed with its current secrets.
    /// `at` is the time of the request. `None` if the newest secret cannot be decrypted.
    fn signature(
        &self,
        target: &Target,
        event_id: &EventId,
        body: &[u8],
        at: Timestamp,
    ) -> Option<String>;
}

/// A callback for the result of a test event.
pub type FinishTest = Box<dyn FnOnce(TestResult) + Send>;

/// Signs events in the name of the service. Receivers verify the signature with a public key, so they need no shared
/// secret.
pub trait EventSigner: Send + Sync {
    /// Returns the Ed25519 signature over `content`, made with the current issuer key.
    fn sign_event(&self, content: &[u8]) -> [u8; 64];
}

/// Decides whether a URL is allowed for webhooks. An error names the broken rule, as a clause that follows the word
/// "url" in the error text.
pub trait TargetGuard: Send + Sync {
    /// Checks the text of a URL, without a DNS look-up.
    fn check(&self, url: &str) -> Result<(), String>;

    /// Checks a URL and the addresses of its host, and returns the URL in canonical form. The DNS look-up of the host
    /// name can block for a bounded time.
    fn vet(&self, url: &str) -> Result<VettedUrl, String>;
}

/// A URL that is allowed for webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VettedUrl {
    /// The URL in canonical form.
    pub url: String,
    /// The host name of the URL, if the DNS look-up found no address for the name. `None` otherwise, also if the
    /// look-up was not possible or took too long.
    pub unresolved: Option<String>,
}
