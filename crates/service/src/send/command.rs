//! Requests for the committer, and their results.

use std::sync::Arc;

use sealpost_domain::{
    Channel, Code, Envelope, EnvelopeMeta, Fingerprint, Handle, IdempotencyKey, ReceiptState,
    Refusal, ports::IdempotencyResult,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::message::SentMessage;
use crate::caller::{
    admission::{Limits, Purpose},
    credentials::CallerId,
};

/// A single request, or one message of a [`SendBatch`](crate::SendBatch), a request with many messages.
#[derive(Clone)]
pub(crate) struct Command {
    pub(crate) caller: CallerId,
    pub(crate) purpose: Purpose,
    /// The idempotency key and the fingerprint of the request. `None` without an idempotency key.
    pub(crate) idempotency: Option<Idempotency>,
    /// The envelope to store. `None` if the request is only checked (session, key and limits) and counted.
    pub(crate) pending: Option<PendingEnvelope>,
    /// An error that was found in a message of a batch. The command is first checked (session, key and limits) and
    /// counted, and only then refused with this error.
    pub(crate) refusal: Option<Refusal>,
}

/// Commands that are decided in order and committed together: a single request, or all messages of a
/// [`SendBatch`](crate::SendBatch).
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

/// The idempotency key of a request, and the fingerprint of its content. A request with the same key and the same
/// fingerprint repeats it.
#[derive(Debug, Clone)]
pub(crate) struct Idempotency {
    pub(crate) key: IdempotencyKey,
    pub(crate) fingerprint: Fingerprint,
}

/// A sealed envelope that is not stored yet.
#[derive(Clone)]
pub(crate) struct PendingEnvelope {
    pub(crate) envelope: Arc<Envelope>,
    /// The hash of the envelope for the transparency log. Computed when the envelope is sealed, because many threads
    /// seal and only one commits.
    pub(crate) leaf: [u8; 32],
    /// The row of the channel (shared key encapsulation) that sealed the envelope. `None` if there is no channel.
    pub(crate) channel: Option<Arc<Channel>>,
    /// The handle by which the caller named the recipient. `None` if the caller named a key.
    pub(crate) handle: Option<Handle>,
    /// The version of the recipient's sealing key for which the message was sealed.
    pub(crate) sealing_version: u32,
}

/// The decision on one command of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The command passed the checks of session, key and limits, and was counted. It had no envelope to store.
    Admitted,
    /// Refused. Nothing is stored.
    Refused(Refusal),
    /// A repeated request. Contains the result of the first request.
    Replayed(IdempotencyResult<EnvelopeMeta>),
    /// The cached data of the recipient was out of date. The caller must look up the recipient and seal again. The
    /// request is not counted.
    Stale,
    /// The envelope is stored with its deliveries. Contains the state of the envelope, as the sender sees it.
    Stored(ReceiptState),
}

/// The decision on a command, and the caller's rate limits after it.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub(crate) verdict: Verdict,
    pub(crate) limits: Option<Limits>,
    /// Whether the command passed the checks of session, key, governance and request limits. If the first command of a
    /// batch fails them, the whole batch is refused.
    pub(crate) is_admitted: bool,
}

/// The result of one message of a [`SendBatch`](crate::SendBatch), a request with many messages. The idempotency record
/// of the request contains the results as JSON, so that a repeated request gets the same results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchResult {
    /// The message was refused. Nothing was stored.
    Refused(RefusedMessage),
    /// The envelope is stored. Contains the members of a [`SentMessage`].
    Sent(Map<String, Value>),
}

/// The reason why a message of a [`SendBatch`](crate::SendBatch) was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedMessage {
    /// The error code.
    pub code: Code,
    /// Describes the error and a remedy.
    pub detail: String,
    /// The member of the message that caused the error; `None` if no single member caused it.
    pub field: Option<String>,
}

/// Returns the result of each message of a decided batch. `envelopes` contains the envelope of each message, in the
/// same order as `decided`. Returns `None` in three cases:
///
/// - The cached data of a recipient was out of date ([`Verdict::Stale`]).
/// - The batch repeats an earlier batch.
/// - The batch was [refused as a whole](refusal_of).
pub(super) fn results_of(
    envelopes: &[Option<Arc<Envelope>>],
    decided: &[Decided],
) -> Option<Vec<BatchResult>> {
    if refusal_of(decided).is_some() {
        return None;
    }
    let envelopes = envelopes.iter().map(Option::as_deref);
    envelopes.zip(decided).map(|(envelope, decided)| result_of(envelope, decided)).collect()
}

/// Returns the refusal if a batch is refused as a whole, so that its messages get no results. There are three reasons:
///
/// - Its first message did not pass the checks of session, key, governance and request limits.
/// - Its idempotency key was used before, for another request.
/// - The disk has too little free space, so the service stores nothing.
///
/// Returns `None` otherwise, and also if a message of the batch is stored: after a refusal of the whole batch, the
/// sender would send the stored message again.
pub(super) fn refusal_of(decided: &[Decided]) -> Option<&Refusal> {
    if decided.iter().any(|decided| matches!(decided.verdict, Verdict::Stored(_))) {
        return None;
    }
    let mut refused = decided.iter().enumerate().filter_map(|(place, decided)| {
        let Verdict::Refused(refusal) = &decided.verdict else { return None };
        Some((place == 0 && !decided.is_admitted, refusal))
    });
    let is_whole = |(is_first_rejected, refusal): &(bool, &Refusal)| {
        let code = refusal.code();
        *is_first_rejected || matches!(code, Code::IdempotencyKeyReused | Code::ServiceUnavailable)
    };
    refused.find(is_whole).map(|(_, refusal)| refusal)
}

fn result_of(envelope: Option<&Envelope>, decided: &Decided) -> Option<BatchResult> {
    match &decided.verdict {
        Verdict::Stored(state) => {
            let sent = SentMessage::new(&envelope?.meta, *state);
            match serde_json::to_value(sent).ok()? {
                Value::Object(members) => Some(BatchResult::Sent(members)),
                _ => None,
            }
        }
        Verdict::Refused(refusal) => Some(BatchResult::Refused(RefusedMessage {
            code: refusal.code(),
            detail: refusal.to_string(),
            field: refusal.field().map(str::to_owned),
        })),
        Verdict::Admitted | Verdict::Replayed(_) | Verdict::Stale => None,
    }
}
