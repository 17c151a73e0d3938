//! Lists the deliveries of a webhook in pages: first the pending deliveries, then the attempts, each newest first.

use schemars::JsonSchema;
use sealpost_domain::{
    Attempt, EventId, PendingDelivery, Refusal, Timestamp, Webhook, ports::StoreError,
};
use sealpost_storage::{Abort, Reader};
use serde::Serialize;

use super::{
    Webhooks,
    cursor::{Cursor, CursorError, DeliveryState, EventLogCursor},
    view::find,
};
use crate::{
    acts::actor::{ActRequest, Actor},
    caller::admission::{Limited, Purpose},
};

/// Selects a page of the deliveries of a webhook.
#[derive(Debug, Clone)]
pub struct Deliveries {
    /// Id of the webhook.
    pub webhook_id: String,
    /// The state of the listed entries; `None` lists all states.
    pub state: Option<DeliveryState>,
    /// Maximum number of entries.
    pub limit: u32,
    /// The `next_cursor` of the previous page; `None` for the first page.
    pub cursor: Option<Cursor>,
}

/// A page of the deliveries of a webhook.
#[derive(JsonSchema, Serialize)]
pub struct DeliveriesPage {
    /// First the pending deliveries, then the attempts, each newest first.
    pub deliveries: Vec<DeliveryView>,
    /// The cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// A completed attempt, or a pending delivery.
#[derive(JsonSchema, Serialize)]
pub struct DeliveryView {
    /// Id of the event: the id of the envelope, or `evt_…` for other events.
    #[schemars(with = "String", extend("pattern" = EventId::PATTERN))]
    pub envelope_id: EventId,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// End of the attempt. For a pending delivery, the time of the event.
    pub at: Timestamp,
    /// State of the entry: `pending`, `succeeded`, `failed` or `exhausted`.
    #[schemars(extend("enum" = ["pending", "succeeded", "failed", "exhausted"]))]
    pub outcome: &'static str,
    /// HTTP status of the response; `null` without a response.
    pub status_code: Option<u16>,
    /// Class of the failure; `null` without a failure. For a pending delivery, the class of the failure of its last
    /// attempt.
    pub error: Option<String>,
    /// The reason of a failed attempt without a response, for example the error of the TLS library. `null` if the class
    /// is the whole reason, and for a pending delivery.
    pub error_detail: Option<String>,
    /// Duration of the attempt in milliseconds; `null` for a pending delivery.
    pub duration_ms: Option<u32>,
    /// Time at which the next attempt is due. `null` if no attempt follows, while an attempt is running, and while the
    /// webhook is disabled or paused.
    pub next_attempt_at: Option<Timestamp>,
    /// Beginning of the response's body; `null` without a response, and if the body is empty.
    pub response: Option<String>,
}

impl Webhooks {
    /// Lists the deliveries of a webhook. Refuses an unknown webhook, and a cursor of another webhook or another state.
    /// Uses no write transaction, because reading a long backlog must not delay writers.
    pub async fn deliveries(&self, actor: &Actor, query: Deliveries) -> Limited<DeliveriesPage> {
        let list = move |Self { core, .. }: &Self, request: &ActRequest| {
            let oldest = core.kept_since(core.clock.now());
            Ok(core.store.read(|reader| {
                let webhook = find(reader, request.key(), &query.webhook_id)?;
                read_page(reader, &webhook, oldest, &query)
            })?)
        };
        self.core.act(self, actor, Purpose::Inspect, list).await
    }
}

fn read_page(
    reader: &mut Reader,
    of: &Webhook,
    oldest: Timestamp,
    query: &Deliveries,
) -> Result<DeliveriesPage, Abort> {
    let Deliveries { state, limit, cursor, .. } = query;
    if cursor.is_some_and(|cursor| cursor.webhook_id != of.id || cursor.state != *state) {
        let problem = CursorError.to_string();
        return Err(Refusal::InvalidField { field: "cursor", problem }.into());
    }
    let mut entries = read_entries(reader, of, oldest, query)?;
    let is_last = entries.len() <= usize::try_from(*limit).unwrap_or(usize::MAX);
    if !is_last {
        entries.pop();
    }
    let last = entries.last().filter(|_| !is_last).map(|(below, _)| *below);
    let next = last.map(|below| Cursor { webhook_id: of.id, state: *state, below });
    Ok(DeliveriesPage {
        deliveries: entries.into_iter().map(|(_, view)| view).collect(),
        next_cursor: next.map(|cursor| cursor.to_string()),
    })
}

/// Reads the entries of a page, and one additional entry if another page follows.
fn read_entries(
    reader: &mut Reader,
    of: &Webhook,
    oldest: Timestamp,
    query: &Deliveries,
) -> Result<Vec<(EventLogCursor, DeliveryView)>, StoreError> {
    let below = query.cursor.map(|cursor| cursor.below);
    let wanted = query.limit.saturating_add(1);
    let mut entries = Vec::new();
    if let (None | Some(DeliveryState::Pending), None | Some(EventLogCursor::Event(_))) =
        (query.state, below)
    {
        let below = match &below {
            Some(EventLogCursor::Event(id)) => Some(id),
            _ => None,
        };
        let pending = reader.pending_deliveries(&of.id, oldest, below, wanted)?;
        let is_active = of.is_active();
        let entry =
            |it: PendingDelivery| (EventLogCursor::Event(it.event_id), pending_view(it, is_active));
        entries.extend(pending.into_iter().map(entry));
    }
    let free = wanted.saturating_sub(u32::try_from(entries.len()).unwrap_or(u32::MAX));
    let outcome = match query.state {
        Some(DeliveryState::Pending) => return Ok(entries),
        Some(DeliveryState::Attempted(outcome)) => Some(outcome),
        None => None,
    };
    if free > 0 {
        let below = match below {
            Some(EventLogCursor::Attempt(number)) => Some(number),
            _ => None,
        };
        let attempts = reader.attempts(&of.id, outcome, below, free)?;
        let entry = |it: Attempt| (EventLogCursor::Attempt(it.number), attempt_view(it));
        entries.extend(attempts.into_iter().map(entry));
    }
    Ok(entries)
}

/// Converts a pending delivery to the form that the owner of the webhook sees. `is_active` is false if the webhook is
/// disabled or paused, so that no attempt follows.
pub(crate) fn pending_view(pending: PendingDelivery, is_active: bool) -> DeliveryView {
    DeliveryView {
        envelope_id: pending.event_id,
        attempt: pending.attempts.saturating_add(1),
        at: pending.event_at,
        outcome: DeliveryState::Pending.as_str(),
        status_code: None,
        error: pending.error,
        error_detail: None,
        duration_ms: None,
        next_attempt_at: pending.due_at.filter(|_| is_active),
        response: None,
    }
}

/// Converts a completed attempt to the form that the owner of the webhook sees.
pub(crate) fn attempt_view(attempt: Attempt) -> DeliveryView {
    DeliveryView {
        envelope_id: attempt.event_id,
        attempt: attempt.attempt,
        at: attempt.at,
        outcome: attempt.outcome.as_str(),
        status_code: attempt.status_code,
        error: attempt.error,
        error_detail: attempt.error_detail,
        duration_ms: Some(attempt.duration_ms),
        next_attempt_at: attempt.next_attempt_at,
        response: attempt.excerpt,
    }
}
