//! Requests for the committer, and their results.

use std::sync::Arc;

use sealpost_domain::{
    Channel, Envelope, EnvelopeMeta, Fingerprint, Handle, IdempotencyKey, ReceiptState, Refusal,
    ports::IdempotencyResult,
};

use crate::caller::{admission::Purpose, credentials::CallerId, limited::Limits};

/// A single request, or one message of a batch.
#[derive(Clone)]
pub(crate) struct Command {
    pub(crate) caller: CallerId,
    pub(crate) purpose: Purpose,
    /// The idempotency key and the fingerprint of the request. `None` without an idempotency key.
    pub(crate) idempotency: Option<Idempotency>,
    /// The envelope to store. `None` if the request is only admitted and counted.
    pub(crate) pending: Option<PendingEnvelope>,
    /// The error in a message of a batch. The command is refused with it after it is admitted and counted.
    pub(crate) refusal: Option<Refusal>,
}

/// Commands that are decided in order and committed together: a single request, or the messages of a batch.
#[derive(Clone)]
pub(crate) struct CommandGroup {
    pub(crate) commands: Vec<Command>,
    /// The idempotency key of a batch, which covers all its messages. `None` for a single request: its command has its
    /// own idempotency key.
    pub(crate) batch_key: Option<Idempotency>,
}

impl CommandGroup {
    /// Returns the total size of the sealed messages in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.commands.iter().map(Command::bytes).fold(0, usize::saturating_add)
    }
}

impl From<Command> for CommandGroup {
    fn from(command: Command) -> Self {
        Self { commands: vec![command], batch_key: None }
    }
}

impl Command {
    /// Returns the size of the sealed message in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.pending.as_ref().map_or(0, |pending| pending.envelope.sealed.len())
    }
}

/// The idempotency key of a request, and the fingerprint of its content. A repeated request has the same fingerprint.
#[derive(Debug, Clone)]
pub(crate) struct Idempotency {
    pub(crate) key: IdempotencyKey,
    pub(crate) fingerprint: Fingerprint,
}

/// A sealed envelope that is not stored yet.
#[derive(Clone)]
pub(crate) struct PendingEnvelope {
    pub(crate) envelope: Arc<Envelope>,
    /// The row of the channel (shared key encapsulation) that sealed the envelope. `None` if the row is already stored,
    /// or if there is no channel.
    pub(crate) unstored_channel: Option<Arc<Channel>>,
    /// The handle (readable name) by which the caller named the recipient. `None` if the caller named a key.
    pub(crate) handle: Option<Handle>,
    /// The version of the recipient's sealing key for which the message was sealed.
    pub(crate) sealing_version: u32,
}

/// The decision on one command of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Admitted and counted. The command had no envelope to store.
    Admitted,
    /// Refused. Nothing is stored.
    Refused(Refusal),
    /// A repeated request. Contains the result of the first request.
    Replayed(IdempotencyResult<EnvelopeMeta>),
    /// The cached data of the recipient was out of date. The caller must look up the recipient and seal again. The
    /// request is not counted.
    Stale,
    /// The envelope is stored with its deliveries. Contains its state, as the sender sees it.
    Stored(ReceiptState),
}

/// The decision on a command, and the caller's rate limits after it.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub(crate) verdict: Verdict,
    pub(crate) limits: Option<Limits>,
    /// Whether the command passed the checks that decide about its whole request: session, key, governance and the
    /// limits of requests.
    pub(crate) is_admitted: bool,
}
