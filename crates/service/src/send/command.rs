//! One request of a batch, and its outcome.

use std::sync::Arc;

use sealpost_domain::{
    Channel, Envelope, EnvelopeMeta, Fingerprint, Handle, IdempotencyKey, Refusal,
};

use crate::caller::{admission::Purpose, credentials::CallerId, limited::Limits};

/// One request of a batch.
pub(crate) struct Command {
    pub(crate) caller: CallerId,
    pub(crate) purpose: Purpose,
    /// `None` if the request has no idempotency key.
    pub(crate) idempotency: Option<Idempotency>,
    /// `None` if the request is only admitted and counted.
    pub(crate) pending: Option<PendingEnvelope>,
}

impl Command {
    /// Bytes of memory that depend on the message.
    pub(crate) fn bytes(&self) -> usize {
        self.pending.as_ref().map_or(0, |pending| pending.envelope.sealed.len())
    }
}

/// Idempotency key of a request, and the fingerprint of its content.
#[derive(Debug, Clone)]
pub(crate) struct Idempotency {
    pub(crate) key: IdempotencyKey,
    pub(crate) fingerprint: Fingerprint,
}

/// A sealed envelope that is not stored yet.
pub(crate) struct PendingEnvelope {
    pub(crate) envelope: Arc<Envelope>,
    /// The row of its channel, until a commit has stored the row.
    pub(crate) unstored_channel: Option<Arc<Channel>>,
    /// The handle that was resolved; `None` if the caller named a key.
    pub(crate) handle: Option<Handle>,
    /// The version of the recipient's sealing key.
    pub(crate) sealing_version: u32,
}

/// The outcome of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Admitted and counted; nothing to store.
    Admitted,
    /// Refused; nothing is stored.
    Refused(Refusal),
    /// A repeated request: the envelope of the first one. Nothing is stored.
    Replayed(EnvelopeMeta),
    /// The cached recipient is out of date: look it up and seal again. Not counted.
    Stale,
    /// Stored, with its deliveries.
    Stored,
}

/// A verdict, and the caller's limits after it.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub(crate) verdict: Verdict,
    pub(crate) limits: Option<Limits>,
}
