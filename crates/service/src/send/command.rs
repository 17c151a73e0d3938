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
    /// Idempotency of the request; `None` if the request has no idempotency key.
    pub(crate) idempotency: Option<Idempotency>,
    /// The envelope to store; `None` if the request is only admitted and counted.
    pub(crate) pending: Option<PendingEnvelope>,
}

impl Command {
    /// Returns the number of bytes of the sealed message.
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
    /// The row of the envelope's channel; `None` if a commit has stored the row.
    pub(crate) unstored_channel: Option<Arc<Channel>>,
    /// The handle that the caller named as the recipient; `None` if the caller named a key.
    pub(crate) handle: Option<Handle>,
    /// The version of the recipient's sealing key that the envelope is sealed to.
    pub(crate) sealing_version: u32,
}

/// The outcome of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Admitted and counted. The command has no envelope to store.
    Admitted,
    /// Refused; nothing is stored.
    Refused(Refusal),
    /// A repeated request. Contains the metadata of the envelope that the first request stored.
    Replayed(EnvelopeMeta),
    /// The cached data of the recipient is out of date: look the recipient up again and seal again. The request is not
    /// counted.
    Stale,
    /// The envelope is stored with its deliveries.
    Stored,
}

/// A verdict, and the caller's limits after it.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub(crate) verdict: Verdict,
    pub(crate) limits: Option<Limits>,
}
