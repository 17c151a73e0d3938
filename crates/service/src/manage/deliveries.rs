//! What became of the deliveries of a webhook, page by page: what waits first, then every attempt, newest first.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Attempt, AttemptOutcome, EnvelopeId, PendingDelivery, Refusal, Timestamp, Webhook,
    WebhookStatus,
    ports::{Lookup, StoreError},
};
use serde::Serialize;

use super::{
    cursor::{Below, Cursor, CursorFault},
    find,
};
use crate::{Error, Sealpost};

/// Which deliveries to show.
#[derive(Debug, Clone, JsonSchema)]
pub struct Deliveries {
    /// Of which webhook.
    #[schemars(length(min = 1))]
    pub webhook_id: String,
    /// Only what is in this state.
    #[schemars(with = "Option<String>", extend("enum" = ["pending", "succeeded", "failed", "exhausted", null]))]
    pub state: Option<DeliveryState>,
    /// How many at the most.
    #[schemars(with = "Option<u32>", range(min = 1, max = 100), extend("default" = 20))]
    pub limit: u32,
    /// From where the last page ended.
    #[schemars(with = "Option<String>")]
    pub cursor: Option<Cursor>,
}

/// The state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// An attempt that was made.
    Attempted(AttemptOutcome),
    /// A delivery that waits for an attempt.
    Pending,
}

impl DeliveryState {
    /// The state's name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attempted(outcome) => outcome.as_str(),
            Self::Pending => "pending",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == Self::Pending.as_str() {
            return Some(Self::Pending);
        }
        AttemptOutcome::from_name(name).map(Self::Attempted)
    }
}

/// A page of deliveries.
#[derive(JsonSchema, Serialize)]
pub struct DeliveriesPage {
    /// Newest first, and what waits before what was attempted.
    pub deliveries: Vec<DeliveryView>,
    /// Where the next page begins; `None` where this is the last.
    pub next_cursor: Option<String>,
}

/// One attempt that was made, or one delivery that waits for its next.
#[derive(JsonSchema, Serialize)]
pub struct DeliveryView {
    /// The envelope that it tells of.
    pub envelope_id: EnvelopeId,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// When the attempt ended; of what waits, when the envelope was sealed.
    pub at: Timestamp,
    /// `pending`, `succeeded`, `failed` or `exhausted`.
    #[schemars(extend("enum" = ["pending", "succeeded", "failed", "exhausted"]))]
    pub outcome: &'static str,
    /// The HTTP status of the answer.
    pub status_code: Option<u16>,
    /// The class of what went wrong; of what waits, in its last attempt.
    pub error: Option<String>,
    /// How long the attempt took.
    pub duration_ms: Option<u32>,
    /// When the next attempt is, or was, due; `None` where none follows, where one is under way, and while the
    /// webhook is disabled.
    pub next_attempt_at: Option<Timestamp>,
    /// The beginning of the answer's body.
    pub response: Option<String>,
}

impl Sealpost {
    /// Outside of any transaction: it may look at a long backlog, and nobody waits for a reader.
    pub(super) fn deliveries(
        &self,
        key: &ApiKeyId,
        asked: &Deliveries,
    ) -> Result<DeliveriesPage, Error> {
        let mut lookup = self.core.store.lookup()?;
        let webhook = find(&mut *lookup, key, &asked.webhook_id)??;
        Ok(read_page(&mut *lookup, &webhook, asked)??)
    }
}

fn read_page(
    lookup: &mut dyn Lookup,
    of: &Webhook,
    asked: &Deliveries,
) -> Result<Result<DeliveriesPage, Refusal>, StoreError> {
    let Deliveries { state, limit, cursor, .. } = asked;
    if cursor.is_some_and(|cursor| cursor.webhook_id != of.id || cursor.state != *state) {
        let problem = CursorFault.to_string();
        return Ok(Err(Refusal::InvalidField { field: "cursor", problem }));
    }
    let mut entries = read_entries(lookup, of, asked)?;
    let is_last = entries.len() <= usize::try_from(*limit).unwrap_or(usize::MAX);
    if !is_last {
        entries.pop();
    }
    let last = entries.last().filter(|_| !is_last).map(|(below, _)| *below);
    let next = last.map(|below| Cursor { webhook_id: of.id, state: *state, below });
    Ok(Ok(DeliveriesPage {
        deliveries: entries.into_iter().map(|(_, view)| view).collect(),
        next_cursor: next.map(|cursor| cursor.to_string()),
    }))
}

/// One more than the page has room for, where there is one.
fn read_entries(
    lookup: &mut dyn Lookup,
    of: &Webhook,
    asked: &Deliveries,
) -> Result<Vec<(Below, DeliveryView)>, StoreError> {
    let below = asked.cursor.map(|cursor| cursor.below);
    let wanted = asked.limit.saturating_add(1);
    let mut entries = Vec::new();
    if let (None | Some(DeliveryState::Pending), None | Some(Below::Envelope(_))) =
        (asked.state, below)
    {
        let below = match &below {
            Some(Below::Envelope(id)) => Some(id),
            _ => None,
        };
        let pending = lookup.pending_deliveries(&of.id, below, wanted)?;
        entries.extend(pending.into_iter().map(|it| pending_entry(it, of.status)));
    }
    let room = wanted.saturating_sub(u32::try_from(entries.len()).unwrap_or(u32::MAX));
    let outcome = match asked.state {
        Some(DeliveryState::Pending) => return Ok(entries),
        Some(DeliveryState::Attempted(outcome)) => Some(outcome),
        None => None,
    };
    if room > 0 {
        let below = match below {
            Some(Below::Attempt(number)) => Some(number),
            _ => None,
        };
        let attempts = lookup.attempts(&of.id, outcome, below, room)?;
        entries.extend(attempts.into_iter().map(attempt_entry));
    }
    Ok(entries)
}

fn pending_entry(pending: PendingDelivery, status: WebhookStatus) -> (Below, DeliveryView) {
    let view = DeliveryView {
        envelope_id: pending.envelope_id,
        attempt: pending.attempts.saturating_add(1),
        at: pending.sealed_at,
        outcome: DeliveryState::Pending.as_str(),
        status_code: None,
        error: pending.error,
        duration_ms: None,
        next_attempt_at: pending.due_at.filter(|_| status == WebhookStatus::Enabled),
        response: None,
    };
    (Below::Envelope(view.envelope_id), view)
}

fn attempt_entry(attempt: Attempt) -> (Below, DeliveryView) {
    let view = DeliveryView {
        envelope_id: attempt.envelope_id,
        attempt: attempt.attempt,
        at: attempt.at,
        outcome: attempt.outcome.as_str(),
        status_code: attempt.status_code,
        error: attempt.error,
        duration_ms: Some(attempt.duration_ms),
        next_attempt_at: attempt.next_attempt_at,
        response: attempt.excerpt,
    };
    (Below::Attempt(attempt.number), view)
}
