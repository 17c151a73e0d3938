//! The log of all events of a key: the attempts at all its webhooks, and one event with its request and responses.

use std::{fmt, str::FromStr, time::Duration};

use sealpost_domain::{
    ApiKeyId, Attempt, AttemptNumber, EnvelopeId, Event, EventId, PendingDelivery, Refusal,
    Timestamp, Webhook, WebhookId, ports::Lookup,
};

use super::account_owner::{NO_KEY, Owner};
use crate::{
    error::Error,
    webhooks::{
        deliveries::{DeliveryView, attempt_view, pending_view},
        delivery_state::DeliveryState,
    },
};

/// Selects a page of the event log of a key.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListEvents {
    /// Lists only entries of this webhook. `None` lists the entries of all webhooks.
    pub webhook_id: Option<WebhookId>,
    /// Lists only entries in this state. `None` lists all attempts, but no pending deliveries.
    pub state: Option<DeliveryState>,
    /// Lists only attempts that ended before this time, and pending deliveries of earlier events. `None` for no bound.
    pub before: Option<Timestamp>,
    /// Maximum number of entries.
    pub limit: u32,
    /// The `next` of the previous page; `None` for the first page.
    pub cursor: Option<EventLogCursor>,
}

/// A page of the event log of a key.
pub struct EventLogPage {
    /// The attempts or pending deliveries, newest first.
    pub entries: Vec<EventLogEntry>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<EventLogCursor>,
    /// All webhooks of the key, oldest first.
    pub webhooks: Vec<LoggedWebhook>,
}

/// An attempt or a pending delivery, with its webhook.
pub struct EventLogEntry {
    /// The webhook of the attempt or the pending delivery.
    pub webhook: LoggedWebhook,
    /// The attempt or the pending delivery.
    pub delivery: DeliveryView,
}

/// Id and URL of a webhook in the event log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedWebhook {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// URL of the receiver.
    pub url: String,
}

/// The last entry of a page of the event log, after which the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventLogCursor {
    /// The last entry is an attempt.
    Attempt(AttemptNumber),
    /// The last entry is a pending delivery of this event.
    Event(EventId),
}

/// One event of a key, as the service sent it.
pub struct EventReport {
    /// Id of the event.
    pub event_id: EventId,
    /// Time of the event. `None` if the event is no longer stored.
    pub at: Option<Timestamp>,
    /// The body of the requests. `None` if the event is no longer stored.
    pub body: Option<String>,
    /// The pending deliveries, then the attempts, newest first. At most 100 attempts.
    pub attempts: Vec<ReportedAttempt>,
}

/// An attempt or a pending delivery of one event.
pub struct ReportedAttempt {
    /// The attempt or the pending delivery, with its webhook.
    pub entry: EventLogEntry,
    /// The headers of the request that depend on the attempt. `None` for a pending delivery.
    pub headers: Option<AttemptHeaders>,
}

/// The headers of a webhook request that depend on the attempt.
pub struct AttemptHeaders {
    /// The value of `webhook-timestamp`: the time of the signature in seconds since the Unix epoch.
    pub timestamp_s: i64,
    /// The value of `webhook-signature`, computed with the present secrets. If a secret was replaced after the attempt,
    /// the sent value was different. `None` if the event is no longer stored.
    pub signature: Option<String>,
}

impl Owner<'_> {
    /// Returns a page of the event log of a key.
    pub async fn events(&self, key: &ApiKeyId, query: ListEvents) -> Result<EventLogPage, Error> {
        let key = *key;
        self.read(move |core, lookup, account, now| {
            lookup.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
            let start = match (query.cursor, query.before, query.state) {
                (Some(cursor), ..) => Some(cursor),
                (None, None, _) => None,
                (None, Some(before), Some(DeliveryState::Pending)) => {
                    Some(EventLogCursor::Event(EnvelopeId::new(before, [0; 10]).into()))
                }
                (None, Some(before), _) => {
                    Some(EventLogCursor::Attempt(lookup.first_attempt_at(before)?))
                }
            };
            let query = ListEvents { cursor: start, ..query };
            let mut lookup = core.store.lookup()?;
            let all = lookup.list_webhooks(&key)?;
            let is_listed = |webhook: &&Webhook| query.webhook_id.is_none_or(|id| id == webhook.id);
            let mut found = Vec::new();
            for webhook in all.iter().filter(is_listed) {
                found.extend(entries_of(&mut *lookup, webhook, core.kept_since(now), &query)?);
            }
            found.sort_by_key(|(position, _)| std::cmp::Reverse(position.sort_key()));
            let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
            let dropped = found.get(limit).map(|(position, _)| *position);
            found.truncate(limit);
            // Several webhooks can have pending deliveries of one event, and a cursor cannot point between them.
            while found.len() > 1 && found.last().map(|(position, _)| *position) == dropped {
                found.pop();
            }
            let next = found.last().filter(|_| dropped.is_some()).map(|(position, _)| *position);
            Ok(EventLogPage {
                entries: found.into_iter().map(|(_, entry)| entry).collect(),
                next,
                webhooks: all.iter().map(LoggedWebhook::of).collect(),
            })
        })
        .await
    }

    /// Returns one event of a key with its request and all its attempts. Refuses an event if neither the event nor an
    /// attempt to deliver it is stored.
    pub async fn event(&self, key: &ApiKeyId, event_id: EventId) -> Result<EventReport, Error> {
        let key = *key;
        self.read(move |core, lookup, account, now| {
            lookup.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
            let webhooks = core.store.lookup()?.list_webhooks(&key)?;
            let ids: Vec<_> = webhooks.iter().map(|webhook| webhook.id).collect();
            let is_kept = event_id.timestamp() >= core.kept_since(now);
            let event = if is_kept { lookup.find_event(&key, &event_id)? } else { None };
            let pending = match &event {
                Some(event) => lookup.pending_at_event(&ids, event)?,
                None => Vec::new(),
            };
            let attempts = lookup.attempts_at_event(&ids, &event_id, ATTEMPTS_MAX)?;
            if event.is_none() && attempts.is_empty() {
                return Err(Refusal::EnvelopeNotFound.into());
            }
            let find = |id: &WebhookId| webhooks.iter().find(|webhook| webhook.id == *id);
            let body = event.as_ref().and_then(|event| event.body(core.settings.events).ok());
            let pending = pending.into_iter().filter_map(|(id, pending)| {
                let entry = EventLogEntry::pending(find(&id)?, pending);
                Some(ReportedAttempt { entry, headers: None })
            });
            let attempts = attempts.into_iter().filter_map(|(id, attempt)| {
                let webhook = find(&id)?;
                let signed_at = attempt.at.minus(Duration::from_millis(attempt.duration_ms.into()));
                let signature = body.as_ref().and_then(|body| {
                    core.dispatch.signature(&webhook.target(account), &event_id, body, signed_at)
                });
                let headers = AttemptHeaders { timestamp_s: signed_at.as_seconds(), signature };
                let entry = EventLogEntry::attempt(webhook, attempt);
                Some(ReportedAttempt { entry, headers: Some(headers) })
            });
            let attempts = pending.chain(attempts).collect();
            Ok(EventReport {
                event_id,
                at: event.as_ref().map(Event::timestamp),
                attempts,
                body: body.and_then(|body| String::from_utf8(body).ok()),
            })
        })
        .await
    }
}

/// Reads the entries of one webhook: at most one more than a page shows. The additional entry shows that another page
/// follows.
fn entries_of(
    lookup: &mut dyn Lookup,
    webhook: &Webhook,
    oldest: Timestamp,
    query: &ListEvents,
) -> Result<Vec<(EventLogCursor, EventLogEntry)>, Error> {
    let limit = query.limit.saturating_add(1);
    let outcome = match query.state {
        Some(DeliveryState::Pending) => {
            let below = match &query.cursor {
                Some(EventLogCursor::Event(id)) => Some(id),
                _ => None,
            };
            let pending = lookup.pending_deliveries(&webhook.id, oldest, below, limit)?.into_iter();
            let entry = |pending: PendingDelivery| {
                let position = EventLogCursor::Event(pending.event_id);
                (position, EventLogEntry::pending(webhook, pending))
            };
            return Ok(pending.map(entry).collect());
        }
        Some(DeliveryState::Attempted(outcome)) => Some(outcome),
        None => None,
    };
    let below = match query.cursor {
        Some(EventLogCursor::Attempt(number)) => Some(number),
        _ => None,
    };
    let entry = |attempt: Attempt| {
        (EventLogCursor::Attempt(attempt.number), EventLogEntry::attempt(webhook, attempt))
    };
    Ok(lookup.attempts(&webhook.id, outcome, below, limit)?.into_iter().map(entry).collect())
}

impl EventLogEntry {
    fn attempt(webhook: &Webhook, attempt: Attempt) -> Self {
        Self { webhook: LoggedWebhook::of(webhook), delivery: attempt_view(attempt) }
    }

    fn pending(webhook: &Webhook, pending: PendingDelivery) -> Self {
        Self {
            webhook: LoggedWebhook::of(webhook),
            delivery: pending_view(pending, webhook.status),
        }
    }
}

impl LoggedWebhook {
    fn of(webhook: &Webhook) -> Self {
        Self { webhook_id: webhook.id, url: webhook.url.clone() }
    }
}

impl EventLogCursor {
    /// Returns the key by which entries are sorted. For an event, the sort key is the id without its prefix, because
    /// the rest of an id begins with the time.
    fn sort_key(&self) -> (i64, String) {
        match self {
            Self::Attempt(number) => (number.0, String::new()),
            Self::Event(id) => (0, id.to_string().split_off(4)),
        }
    }
}

impl fmt::Display for EventLogCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attempt(number) => number.0.fmt(f),
            Self::Event(id) => id.fmt(f),
        }
    }
}

/// The error for a text that is not a cursor of the event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be the cursor of a page of the event log")]
pub struct EventLogCursorFault;

impl FromStr for EventLogCursor {
    type Err = EventLogCursorFault;

    fn from_str(text: &str) -> Result<Self, EventLogCursorFault> {
        match text.parse() {
            Ok(number) => Ok(Self::Attempt(AttemptNumber(number))),
            Err(_) => text.parse().map(Self::Event).map_err(|_malformed| EventLogCursorFault),
        }
    }
}

/// Maximum number of attempts that the page of an event shows.
const ATTEMPTS_MAX: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_a_number_or_the_id_of_an_event() {
        let event = EnvelopeId::new(Timestamp::from_millis(1_790_000_000_000), [8; 10]).into();
        for cursor in [EventLogCursor::Attempt(AttemptNumber(7)), EventLogCursor::Event(event)] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        assert_eq!("x".parse::<EventLogCursor>(), Err(EventLogCursorFault));
    }
}
