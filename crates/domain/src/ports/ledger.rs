//! What the send path reads and writes: one batch, as facts to decide on and as changes to make.

use std::{collections::HashMap, sync::Arc};

use super::StoreError;
use crate::{
    AccountId, ApiKeyId, Channel, DeliveryId, Envelope, EnvelopeId, EnvelopeMeta, Fingerprint,
    GovernanceStanding, Handle, IdempotencyKey, KeyStatus, LeasedDelivery, Plan, Session, Target,
    Timestamp, TokenHash, Usage, WebhookId,
};

/// What the send path reads and writes, for a whole batch at once. Every other authenticated request is admitted
/// through it too, as a batch of one.
pub trait SendLedger {
    /// Reads everything that admission depends on, and locks it until the transaction ends: no key changes its
    /// status, and no caller's usage is counted elsewhere, in the meantime. Locks are taken in the order of ids.
    fn lock_facts(&mut self, wanted: &FactsQuery) -> Result<AdmissionFacts, StoreError>;

    /// The same for a transaction that changes none of these facts but usage itself, as a batch of sends. Whoever
    /// changes any waits, with its commit, for this transaction's end; so what has not changed since it was read last
    /// need not be read again.
    fn lock_batch_facts(&mut self, wanted: &FactsQuery) -> Result<AdmissionFacts, StoreError>;

    /// Writes what was decided.
    fn apply(&mut self, changes: &WriteSet) -> Result<(), StoreError>;
}

/// What a batch asks about. No duplicates, in the order of ids.
#[derive(Debug, Clone, Default)]
pub struct FactsQuery {
    /// The callers' sessions.
    pub sessions: Vec<TokenHash>,
    /// The callers' keys.
    pub callers: Vec<ApiKeyId>,
    /// The recipients' keys.
    pub recipients: Vec<ApiKeyId>,
    /// Idempotency keys, each with the key that it was sent by.
    pub idempotency: Vec<(ApiKeyId, IdempotencyKey)>,
}

impl FactsQuery {
    /// Callers and recipients, each once, in the order of ids.
    pub fn keys(&self) -> Vec<ApiKeyId> {
        let mut keys: Vec<_> = self.callers.iter().chain(&self.recipients).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// What a batch is decided on. What does not exist is absent.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AdmissionFacts {
    /// The sessions asked about, expired ones too.
    pub sessions: HashMap<TokenHash, Session>,
    /// Callers and recipients.
    pub keys: HashMap<ApiKeyId, Arc<KeyFacts>>,
    /// What each caller has used.
    pub usage: HashMap<ApiKeyId, Usage>,
    /// The webhooks of each recipient.
    pub webhooks: HashMap<ApiKeyId, Arc<RecipientWebhooks>>,
    /// What came of earlier sends under the idempotency keys asked about, where their envelopes are still there; however
    /// long ago.
    pub idempotency: HashMap<(ApiKeyId, IdempotencyKey), IdempotencyRecord>,
}

/// What admission depends on, of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFacts {
    /// Whose it is.
    pub account_id: AccountId,
    /// Where it stands.
    pub status: KeyStatus,
    /// What limits it.
    pub plan: Plan,
    /// The handle that leads to it; `None` where another key has taken it over.
    pub handle: Option<Handle>,
    /// The newest sealing key's version.
    pub sealing_version: u32,
    /// Where it stands with governance.
    pub standing: GovernanceStanding,
}

/// Where notices to one key go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipientWebhooks {
    /// What they are sent to.
    pub enabled: Vec<Arc<Target>>,
    /// What they wait for.
    pub disabled: Vec<WebhookId>,
}

/// What a batch decided.
#[derive(Debug, Default)]
pub struct WriteSet {
    /// Channels that envelopes of this batch were sealed under; one that is stored already stays as it is.
    pub channels: Vec<Arc<Channel>>,
    /// Envelopes to store.
    pub envelopes: Vec<Arc<Envelope>>,
    /// Their deliveries, which this node holds.
    pub leased: Vec<LeasedDelivery>,
    /// Their deliveries that this node has no room for: due at once, held by nobody.
    pub unleased: Vec<LeasedDelivery>,
    /// Deliveries to webhooks that are disabled: they wait until somebody enables those.
    pub parked: Vec<ParkedDelivery>,
    /// What each caller has used now.
    pub usage: Vec<(ApiKeyId, Usage)>,
    /// Idempotent sends to remember. One that somebody else remembered first, and that has not had its time, is
    /// [`StoreError::Contended`].
    pub idempotency: Vec<NewIdempotencyRecord>,
    /// Messages past the monthly allowance, by key and month, to be added to what is recorded.
    pub overage: Vec<OverageCount>,
}

/// A delivery that waits for its webhook to be enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParkedDelivery {
    /// Which notice to which webhook.
    pub id: DeliveryId,
    /// When the envelope was sealed.
    pub sealed_at: Timestamp,
}

/// What came of an idempotent send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// When it was stored.
    pub at: Timestamp,
    /// Of the request, to tell whether it is the same.
    pub fingerprint: Fingerprint,
    /// What was answered.
    pub meta: EnvelopeMeta,
}

/// An idempotent send to remember.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdempotencyRecord {
    /// Who sent it.
    pub caller: ApiKeyId,
    /// The caller's name for it.
    pub key: IdempotencyKey,
    /// Of the request.
    pub fingerprint: Fingerprint,
    /// What it stored.
    pub envelope_id: EnvelopeId,
    /// When, from which it is kept for a while.
    pub at: Timestamp,
    /// What was remembered under the same name before this instant has had its time, and gives way.
    pub expired_before: Timestamp,
}

/// Messages that were admitted past the monthly allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverageCount {
    /// Whose.
    pub key: ApiKeyId,
    /// The month's beginning.
    pub month: Timestamp,
    /// How many more.
    pub messages: u32,
}
