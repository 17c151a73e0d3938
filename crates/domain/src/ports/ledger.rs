//! The admission and storage of sends (requests to send a message) in batches. A batch first locks and reads the facts:
//! all rows that decide whether its sends are admitted. Then it writes its results.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{delivery::WaitingEnvelope, keys::Contact};
use crate::{
    AccountId, ApiKeyId, Channel, DeliveryId, Envelope, EnvelopeId, EnvelopeMeta, EventKind,
    Fingerprint, GovernanceStanding, Handle, IdempotencyKey, KeyStatus, LeasedDelivery, Plan,
    ReachedThreshold, ReceiptState, RecipientPolicy, Session, Target, Timestamp, TokenHash, Usage,
};

/// The ids of the rows to read for a batch of sends. Each list is sorted and has no duplicates.
#[derive(Debug, Clone, Default)]
pub struct FactsQuery {
    /// Hashes of the callers' session tokens and API tokens.
    pub sessions: Vec<TokenHash>,
    /// API keys that made the requests of this batch. The rows with the [usage counters](Usage) of these keys are
    /// locked.
    pub callers: Vec<ApiKeyId>,
    /// API keys of the recipients.
    pub recipients: Vec<ApiKeyId>,
    /// Idempotency keys of the requests, each with the API key of its sender.
    pub idempotency: Vec<(ApiKeyId, IdempotencyKey)>,
}

impl FactsQuery {
    /// Returns the API keys of callers and recipients, sorted and without duplicates.
    pub fn keys(&self) -> Vec<ApiKeyId> {
        let mut keys: Vec<_> = self.callers.iter().chain(&self.recipients).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// The facts: all rows that decide whether the sends of a batch are admitted. Missing rows have no entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AdmissionFacts {
    /// Sessions and API tokens of the callers, including expired ones. An API token is represented as a session.
    pub sessions: HashMap<TokenHash, Session>,
    /// API keys of callers and recipients.
    pub keys: HashMap<ApiKeyId, Arc<KeyFacts>>,
    /// Usage counters of each caller.
    pub usage: HashMap<ApiKeyId, Usage>,
    /// Webhooks of each recipient.
    pub webhooks: HashMap<ApiKeyId, Arc<RecipientWebhooks>>,
    /// Records of earlier sends with the same idempotency keys, including expired records. Leaves out sends whose
    /// envelopes are deleted.
    pub idempotency: HashMap<(ApiKeyId, IdempotencyKey), IdempotencyRecord>,
    /// Pairs of a key and one of its contacts. Read after the other facts, and only for recipients whose policies need
    /// contacts.
    pub contacts: HashSet<(ApiKeyId, ApiKeyId)>,
}

/// The data of one API key that decides whether a send is admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFacts {
    /// The account that owns the key.
    pub account_id: AccountId,
    /// Status of the key.
    pub status: KeyStatus,
    /// The plan, which sets the limits of the key.
    pub plan: Plan,
    /// The handle by which senders can address the key. `None` if the key has no handle, for example because another
    /// key took it over.
    pub handle: Option<Handle>,
    /// Version of the newest sealing key (the key pair to which messages are encrypted).
    pub sealing_version: u32,
    /// Proposed and enforced governance decisions (blocks by operators) on the key, its account and its partner.
    pub standing: GovernanceStanding,
    /// The policy of the key as a recipient; `None` for the default policy, which accepts every sender.
    pub policy: Option<Arc<RecipientPolicy>>,
}

/// All webhooks of one recipient.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipientWebhooks(pub Vec<RecipientWebhook>);

impl RecipientWebhooks {
    /// Returns the webhooks that subscribe to this kind of event.
    pub fn subscribed(&self, kind: EventKind) -> impl Iterator<Item = &RecipientWebhook> {
        self.0.iter().filter(move |webhook| webhook.events.contains(&kind))
    }
}

/// The data of a recipient's webhook that a send needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientWebhook {
    /// Subscribed kinds of events. Omits kinds unknown to this version of the server.
    pub events: Vec<EventKind>,
    /// True if events are delivered: the webhook is enabled and not paused. Deliveries to any other webhook are stored,
    /// and wait until that webhook is active again.
    pub is_active: bool,
    /// URL and signing secrets of the webhook.
    pub target: Arc<Target>,
}

/// The rows to write for a batch of sends.
#[derive(Debug, Default)]
pub struct WriteSet {
    /// The channels of all envelopes in this batch that have one. Channels that are already stored are skipped.
    pub channels: Vec<Arc<Channel>>,
    /// Envelopes to insert.
    pub envelopes: Vec<Arc<Envelope>>,
    /// The hashes of `envelopes`, 32 bytes each. One entry of the transparency log will cover all of them.
    pub leaves: Vec<u8>,
    /// Deliveries to insert with a lease of this node. The dispatcher of this node attempts them next.
    pub leased: Vec<LeasedDelivery>,
    /// Deliveries to insert without a lease, because the dispatcher of this node has no capacity left. Any node may
    /// lease them at once.
    pub unleased: Vec<LeasedDelivery>,
    /// Deliveries to insert for relays (webhooks whose receivers connect to the service) without a connection to this
    /// node. A node that holds a connection leases these deliveries.
    pub awaiting_relay: Vec<LeasedDelivery>,
    /// Deliveries to insert for disabled and paused webhooks. They become due when the webhook is active again.
    pub parked: Vec<ParkedDelivery>,
    /// Envelopes to recipients without a webhook for received envelopes. Such an envelope waits until the recipient
    /// registers such a webhook.
    pub waiting: Vec<WaitingEnvelope>,
    /// New usage counters of each caller. Must include all senders of `envelopes`.
    pub usage: Vec<(ApiKeyId, Usage)>,
    /// Records of idempotency keys to insert. The write fails with
    /// [`StoreError::Contended`](super::StoreError::Contended) if another transaction has stored an unexpired record
    /// for the same key.
    pub idempotency: Vec<NewIdempotencyRecord>,
    /// Numbers of messages above the monthly limit, added up per key and month. The usage rows of these keys must be
    /// locked.
    pub overage: Vec<OverageCount>,
    /// Thresholds (percentages of a usage limit) that keys have reached. The usage rows of these keys must be locked.
    /// Each threshold is recorded only once per day or month, with an event for the webhooks of the key.
    pub thresholds: Vec<ReachedThreshold>,
    /// Contacts to store: the recipients of senders whose policies record contacts. No pair occurs twice.
    pub contacts: Vec<Contact>,
}

/// A delivery to a disabled or paused webhook. It waits until the webhook is active again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParkedDelivery {
    /// Id of the delivery.
    pub id: DeliveryId,
    /// Time of the event to deliver.
    pub event_at: Timestamp,
}

/// The record of an earlier send with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Time of the earlier send.
    pub at: Timestamp,
    /// Fingerprint of the earlier request. A repeated request has the same fingerprint.
    pub fingerprint: Fingerprint,
    /// The result of the earlier request.
    pub result: IdempotencyResult<EnvelopeMeta>,
}

/// The result of a request with an idempotency key. A repeated request gets the same response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdempotencyResult<E> {
    /// The results of a batch of messages, as JSON.
    Batch(Arc<str>),
    /// The envelope of a single send.
    Send {
        /// The stored envelope.
        envelope: E,
        /// The state in the response to the send.
        state: ReceiptState,
    },
}

/// The record to insert for a send with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdempotencyRecord {
    /// The API key of the sender.
    pub caller: ApiKeyId,
    /// The idempotency key of the request.
    pub key: IdempotencyKey,
    /// Fingerprint of the request, which detects reuse of the idempotency key for another request.
    pub fingerprint: Fingerprint,
    /// The result of the request.
    pub result: IdempotencyResult<EnvelopeId>,
    /// Time of the send. The record expires a limited time after the send.
    pub at: Timestamp,
    /// Records stored before this time have expired. The new record replaces an expired record of the same idempotency
    /// key.
    pub expired_before: Timestamp,
}

/// A number of messages admitted above the monthly limit of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverageCount {
    /// The API key of the sender.
    pub key: ApiKeyId,
    /// Start of the UTC month.
    pub month: Timestamp,
    /// Number of messages to add to the stored number.
    pub messages: u32,
}
