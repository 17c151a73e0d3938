//! The port of the send path. A batch first locks and reads the facts, the rows that decide on admission, and then
//! writes its results.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{error::StoreError, policies::Contact, waiting::WaitingEnvelope};
use crate::{
    AccountId, ApiKeyId, Channel, DeliveryId, Envelope, EnvelopeId, EnvelopeMeta, EventKind,
    Fingerprint, GovernanceStanding, Handle, IdempotencyKey, KeyStatus, LeasedDelivery, Plan,
    ReachedThreshold, RecipientPolicy, Session, Target, Timestamp, TokenHash, Usage,
};

/// Reads and writes the rows of a whole batch of sends at once. Every other authenticated request uses this port as a
/// batch of one.
pub trait SendLedger {
    /// Locks the usage of the callers in the order of ids until the transaction ends. Then reads all facts. Sees every
    /// change committed before the call.
    ///
    /// [`KeyRepo::lock_key`] and this lock exclude each other for a caller's key. Changes of a recipient do not wait
    /// for this lock.
    ///
    /// [`KeyRepo::lock_key`]: super::KeyRepo::lock_key
    fn lock_facts(&mut self, query: &FactsQuery) -> Result<AdmissionFacts, StoreError>;

    /// Reads the stored bytes of each account: the sealed envelopes that its keys have sent.
    /// Unknown accounts are left out.
    fn stored_bytes(
        &mut self,
        accounts: &[AccountId],
    ) -> Result<HashMap<AccountId, u64>, StoreError>;

    /// Selects the pairs of a key and a contact to which the key has sent at `since` or later.
    fn find_contacts(
        &mut self,
        pairs: &[(ApiKeyId, ApiKeyId)],
        since: Timestamp,
    ) -> Result<HashSet<(ApiKeyId, ApiKeyId)>, StoreError>;

    /// Writes the results of a batch. Adds the sealed bytes of the envelopes to the stored bytes of
    /// their senders, each of which must be in `usage`.
    fn apply(&mut self, writes: &WriteSet) -> Result<(), StoreError>;
}

/// The ids of the rows that a batch needs. Each list is sorted and without duplicates.
#[derive(Debug, Clone, Default)]
pub struct FactsQuery {
    /// Sessions and API tokens of the callers.
    pub sessions: Vec<TokenHash>,
    /// Keys of the callers.
    pub callers: Vec<ApiKeyId>,
    /// Keys of the recipients.
    pub recipients: Vec<ApiKeyId>,
    /// Idempotency keys, each with the sending API key.
    pub idempotency: Vec<(ApiKeyId, IdempotencyKey)>,
}

impl FactsQuery {
    /// Returns the keys of callers and recipients, sorted and without duplicates.
    pub fn keys(&self) -> Vec<ApiKeyId> {
        let mut keys: Vec<_> = self.callers.iter().chain(&self.recipients).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// The facts: the rows that decide on the admission of a batch. A row that does not exist has no entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AdmissionFacts {
    /// Sessions and API tokens, including expired ones. An API token has the fields of a session.
    pub sessions: HashMap<TokenHash, Session>,
    /// Keys of callers and recipients.
    pub keys: HashMap<ApiKeyId, Arc<KeyFacts>>,
    /// Usage of each caller.
    pub usage: HashMap<ApiKeyId, Usage>,
    /// Webhooks of each recipient.
    pub webhooks: HashMap<ApiKeyId, Arc<RecipientWebhooks>>,
    /// Records of earlier sends under these idempotency keys, of any age, if their envelopes still
    /// exist.
    pub idempotency: HashMap<(ApiKeyId, IdempotencyKey), IdempotencyRecord>,
    /// Pairs of a recipient and a sender that is a contact of the recipient. Not read with the other facts, because
    /// only recipients with a policy need contacts: see [`SendLedger::find_contacts`].
    pub contacts: HashSet<(ApiKeyId, ApiKeyId)>,
}

/// The state of one API key that the admission of a send depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFacts {
    /// The owning account.
    pub account_id: AccountId,
    /// State of the key.
    pub status: KeyStatus,
    /// Plan of the key.
    pub plan: Plan,
    /// The handle that resolves to the key; `None` if the key has none, or if another key took the handle over.
    pub handle: Option<Handle>,
    /// Version of the newest sealing key.
    pub sealing_version: u32,
    /// Governance decisions on the key.
    pub standing: GovernanceStanding,
    /// The policy as a recipient; `None` for the default policy, which accepts every sender.
    pub policy: Option<Arc<RecipientPolicy>>,
}

/// The webhooks of one recipient.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipientWebhooks(pub Vec<RecipientWebhook>);

impl RecipientWebhooks {
    /// Returns the webhooks that subscribe to events of this kind.
    pub fn subscribed(&self, kind: EventKind) -> impl Iterator<Item = &RecipientWebhook> {
        self.0.iter().filter(move |webhook| webhook.events.contains(&kind))
    }
}

/// One webhook of a recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientWebhook {
    /// Subscribed kinds of events. Kinds that only newer versions of the server know are left out.
    pub events: Vec<EventKind>,
    /// Whether events are delivered. Deliveries to a disabled webhook are parked.
    pub is_enabled: bool,
    /// URL and secrets.
    pub target: Arc<Target>,
}

/// The rows that a batch writes.
#[derive(Debug, Default)]
pub struct WriteSet {
    /// Channels used by envelopes of this batch. A channel that is already stored stays unchanged.
    pub channels: Vec<Arc<Channel>>,
    /// Envelopes to insert.
    pub envelopes: Vec<Arc<Envelope>>,
    /// Deliveries to insert, leased to this node.
    pub leased: Vec<LeasedDelivery>,
    /// Deliveries to insert without a lease, due at once. These are the deliveries that exceed the capacity of this
    /// node's dispatcher.
    pub unleased: Vec<LeasedDelivery>,
    /// Deliveries to insert for disabled webhooks. They wait until the webhook is enabled.
    pub parked: Vec<ParkedDelivery>,
    /// Envelopes whose recipients have no webhook for received envelopes. They wait for the first one.
    pub waiting: Vec<WaitingEnvelope>,
    /// New usage of each caller. Includes all senders of `envelopes`.
    pub usage: Vec<(ApiKeyId, Usage)>,
    /// Idempotency records to insert. [`SendLedger::apply`] returns [`StoreError::Contended`] if another transaction
    /// inserted an unexpired record first.
    pub idempotency: Vec<NewIdempotencyRecord>,
    /// Messages beyond the monthly allowance, to be added per key and month.
    pub overage: Vec<OverageCount>,
    /// Thresholds that the usage of keys has reached. The keys are locked. A threshold that is already recorded for its
    /// window is skipped; otherwise an event for the key's webhooks is stored.
    pub thresholds: Vec<ReachedThreshold>,
    /// Contacts of senders that record them. Each pair of keys occurs once.
    pub contacts: Vec<Contact>,
}

/// A delivery that waits until its webhook is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParkedDelivery {
    /// The delivery.
    pub id: DeliveryId,
    /// Time of the event.
    pub event_at: Timestamp,
}

/// A stored send with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Time of the send.
    pub at: Timestamp,
    /// Fingerprint of the request. A repeated request has the same one.
    pub fingerprint: Fingerprint,
    /// Envelope that the send returned.
    pub meta: EnvelopeMeta,
}

/// A send with an idempotency key, to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdempotencyRecord {
    /// The sending key.
    pub caller: ApiKeyId,
    /// The caller's idempotency key.
    pub key: IdempotencyKey,
    /// Fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// The stored envelope.
    pub envelope_id: EnvelopeId,
    /// Time of the send. Retention starts here.
    pub at: Timestamp,
    /// Time before which records have expired. An expired record under the same key is replaced.
    pub expired_before: Timestamp,
}

/// Messages that were admitted beyond the monthly allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverageCount {
    /// The sending key.
    pub key: ApiKeyId,
    /// Start of the UTC month.
    pub month: Timestamp,
    /// Number of messages to add.
    pub messages: u32,
}
