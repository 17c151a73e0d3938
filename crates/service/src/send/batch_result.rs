//! The results of the messages of a batch, each the response to a message or the reason of its refusal.

use std::sync::Arc;

use sealpost_domain::{Code, Envelope, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    command::{Decided, Verdict},
    message::SentMessage,
};

/// The result of one message of a batch.
///
/// The idempotency record of a batch contains its results as JSON, so that a repeated request gets the same ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchResult {
    /// The message was refused. Nothing was stored.
    Refused(RefusedMessage),
    /// The envelope is stored. Contains the members of a [`SentMessage`].
    Sent(Map<String, Value>),
}

/// The reason why a message of a batch was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedMessage {
    /// The error code.
    pub code: Code,
    /// Describes the error and a remedy.
    pub detail: String,
    /// The member of the message that caused the error; `None` if no single member caused it.
    pub field: Option<String>,
}

/// Returns the result of each message of a decided batch, with the given envelopes. Returns `None` in three cases:
///
/// - The batch is stale.
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

/// Returns the reason for which a batch is refused as a whole, without results. `None` if no such reason applies:
///
/// - Its first message was not admitted.
/// - Its idempotency key was used before, for another request.
/// - The service cannot store anything.
pub(super) fn refusal_of(decided: &[Decided]) -> Option<&Refusal> {
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
