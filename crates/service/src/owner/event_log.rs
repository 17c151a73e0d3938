//! The log of the events of a key or of a whole account: the attempts at all webhooks.

use std::{cmp::Reverse, collections::HashSet};

use sealpost_domain::{
    AccountId, ApiKeyId, Attempt, AttemptNumber, Description, EnvelopeId, EventId, EventKind,
    PendingDelivery, Timestamp, Webhook, WebhookId, WebhookStatus, ports::WebhookOwner,
};
use sealpost_storage::Reader;

use super::{
    NO_KEY, Owner,
    correspondents::{EventOrigin, origins},
    views::Truncated,
};
use crate::{
    error::Error,
    webhooks::{
        cursor::{DeliveryState, EventLogCursor},
        deliveries::{DeliveryView, attempt_view, pending_view},
    },
};

/// Selects a page of the event log of a key or an account.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListEvents {
    /// Lists only entries of this webhook. `None` lists the entries of all webhooks.
    pub webhook_id: Option<WebhookId>,
    /// Lists only entries of events of this kind. `None` lists all kinds.
    pub kind: Option<EventKind>,
    /// Lists only entries in this state. `None` lists all attempts.
    pub state: Option<DeliveryState>,
    /// Lists only attempts that ended before this time, and pending deliveries of events before this time. `None` for
    /// no bound.
    pub before: Option<Timestamp>,
    /// Maximum number of entries.
    pub limit: u32,
    /// The `next` of the previous page; `None` for the first page.
    pub cursor: Option<EventLogCursor>,
    /// If true and `state` is `None`, the first page begins with the deliveries that were not attempted yet: at most
    /// `limit`, which do not count against the `limit` of the other entries.
    pub with_unattempted: bool,
}

/// A page of an event log.
pub struct EventLogPage {
    /// The attempts or pending deliveries, newest first.
    pub entries: Vec<EventLogEntry>,
    /// The cursor of the next page; `None` on the last page. A page that is filtered by kind can have fewer entries
    /// than the limit, or none, although further pages follow.
    pub next: Option<EventLogCursor>,
    /// The webhooks whose entries the log contains. For a key, all webhooks of the key. For an account, the newest 50
    /// webhooks, and the webhook that the query names.
    pub webhooks: Vec<LoggedWebhook>,
    /// True if the account has more than the 50 webhooks whose entries its log contains.
    pub has_more_webhooks: bool,
}

/// An attempt or a pending delivery, with its webhook.
pub struct EventLogEntry {
    /// The webhook of the attempt or the pending delivery.
    pub webhook: LoggedWebhook,
    /// The attempt or the pending delivery.
    pub delivery: DeliveryView,
    /// The kind and the sender of the event.
    pub origin: EventOrigin,
    /// The position of the attempt in the log of all attempts. `None` for a pending delivery.
    pub number: Option<AttemptNumber>,
}

/// A webhook in an event log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedWebhook {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The key of the webhook.
    pub api_key_id: ApiKeyId,
    /// URL of the receiver.
    pub url: String,
    /// The owner's note about the webhook.
    pub description: Option<Description>,
    /// Enabled or disabled. A disabled webhook gets no attempts.
    pub status: WebhookStatus,
    /// True if the owner paused the webhook. A paused webhook gets no attempts.
    pub paused: bool,
}

/// An entry, with its position in the log.
type PlacedEntry = (EventLogCursor, EventLogEntry);

impl Owner<'_> {
    /// Returns a page of the event log of a key, or of all keys of the account. Refuses a key of another account.
    pub async fn events(
        &self,
        key: Option<&ApiKeyId>,
        query: ListEvents,
    ) -> Result<EventLogPage, Error> {
        let key = key.copied();
        self.read(move |core, reader, account, now| {
            let Truncated { first: mut webhooks, has_more: has_more_webhooks } =
                logged_webhooks(reader, account, key, now)?;
            if let Some(id) = query.webhook_id.filter(|_| has_more_webhooks)
                && webhooks.iter().all(|webhook| webhook.id != id)
            {
                webhooks.extend(reader.webhook_of(&account, &id)?);
            }
            let oldest = core.kept_since(now);
            let query = ListEvents { cursor: start_of(reader, &query)?, ..query };
            let with_unattempted = query.with_unattempted && query.cursor.is_none();
            let (mut entries, next) = page(reader, &webhooks, oldest, &query)?;
            if with_unattempted && query.state.is_none() {
                let pending = ListEvents { state: Some(DeliveryState::Pending), ..query };
                let (mut unattempted, _) = page(reader, &webhooks, oldest, &pending)?;
                unattempted.retain(|entry| entry.delivery.attempt == 1);
                unattempted.append(&mut entries);
                entries = unattempted;
            }
            let ids: Vec<_> = entries.iter().map(|entry| entry.delivery.envelope_id).collect();
            let origins = origins(reader, &ids)?;
            for entry in &mut entries {
                let origin = origins.get(&entry.delivery.envelope_id);
                entry.origin = origin.cloned().unwrap_or_default();
            }
            let webhooks = webhooks.iter().map(LoggedWebhook::new).collect();
            Ok(EventLogPage { entries, next, webhooks, has_more_webhooks })
        })
        .await
    }
}

/// Returns the webhooks of a key, oldest first. Without a key, returns the newest 50 webhooks of the account, newest
/// first, and whether there are more. Refuses a key of another account.
fn logged_webhooks(
    reader: &mut Reader,
    account: AccountId,
    key: Option<ApiKeyId>,
    now: Timestamp,
) -> Result<Truncated<Webhook>, Error> {
    let Some(key) = key else {
        let owner = WebhookOwner::Account(account);
        let webhooks = reader.webhooks(&owner, None, WEBHOOKS_MAX + 1)?;
        return Ok(Truncated::new(webhooks.into_iter(), WEBHOOKS_MAX));
    };
    reader.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
    Ok(Truncated { first: reader.list_webhooks(&key)?, has_more: false })
}

/// Returns the position after which the page begins. `None` begins with the newest entry.
fn start_of(reader: &mut Reader, query: &ListEvents) -> Result<Option<EventLogCursor>, Error> {
    Ok(match (query.cursor, query.before, query.state) {
        (Some(cursor), ..) => Some(cursor),
        (None, None, _) => None,
        (None, Some(before), Some(DeliveryState::Pending)) => {
            Some(EventLogCursor::Event(EnvelopeId::new(before, [0; 10]).into()))
        }
        (None, Some(before), _) => Some(EventLogCursor::Attempt(reader.first_attempt_at(before)?)),
    })
}

/// Reads the entries of a page, and the position of the next page.
fn page(
    reader: &mut Reader,
    webhooks: &[Webhook],
    oldest: Timestamp,
    query: &ListEvents,
) -> Result<(Vec<EventLogEntry>, Option<EventLogCursor>), Error> {
    let examined = if query.kind.is_some() { EXAMINED_MAX } else { query.limit };
    let is_listed = |webhook: &&Webhook| query.webhook_id.is_none_or(|id| id == webhook.id);
    let (mut found, mut ends) = (Vec::new(), Vec::new());
    for webhook in webhooks.iter().filter(is_listed) {
        let mut entries = entries_of(reader, webhook, oldest, query, examined)?;
        if entries.len() > usize::try_from(examined).unwrap_or(usize::MAX) {
            entries.pop();
            ends.extend(entries.last().map(|(position, _)| *position));
        }
        found.extend(entries);
    }
    // For each webhook with further entries, `ends` contains the position of the last entry that was read. The entries
    // have gaps below the highest of these positions. Therefore this page drops all entries below it, and the next
    // pages list them.
    let end = ends.into_iter().max_by_key(EventLogCursor::sort_key);
    if let Some(end) = end.map(|end| end.sort_key()) {
        found.retain(|(position, _)| position.sort_key() >= end);
    }
    if let Some(kind) = query.kind {
        retain_kind(reader, &mut found, kind)?;
    }
    found.sort_by_key(|(position, _)| Reverse(position.sort_key()));
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let dropped = found.get(limit).map(|(position, _)| *position);
    found.truncate(limit);
    // Several webhooks can have pending deliveries of the same event. A cursor cannot point between them, so all of
    // them go to the next page.
    while found.len() > 1 && found.last().map(|(position, _)| *position) == dropped {
        found.pop();
    }
    let last = found.last().filter(|_| dropped.is_some()).map(|(position, _)| *position);
    Ok((found.into_iter().map(|(_, entry)| entry).collect(), last.or(end)))
}

/// Keeps the entries of events of one kind.
fn retain_kind(
    reader: &mut Reader,
    found: &mut Vec<PlacedEntry>,
    kind: EventKind,
) -> Result<(), Error> {
    if kind == EventKind::EnvelopeReceived {
        found.retain(|(_, entry)| entry.delivery.envelope_id.is_envelope());
        return Ok(());
    }
    found.retain(|(_, entry)| !entry.delivery.envelope_id.is_envelope());
    let ids: Vec<_> = found.iter().map(|(_, entry)| entry.delivery.envelope_id).collect();
    let sources = reader.event_sources(&ids)?;
    let is_kind = |id: &EventId| sources.get(id).is_some_and(|source| source.kind == kind);
    found.retain(|(_, entry)| is_kind(&entry.delivery.envelope_id));
    Ok(())
}

/// Reads the entries of one webhook, at most `examined` plus one. The additional entry shows that further entries
/// follow.
fn entries_of(
    reader: &mut Reader,
    webhook: &Webhook,
    oldest: Timestamp,
    query: &ListEvents,
    examined: u32,
) -> Result<Vec<PlacedEntry>, Error> {
    let limit = examined.saturating_add(1);
    let outcome = match query.state {
        Some(DeliveryState::Pending) => {
            let below = match &query.cursor {
                Some(EventLogCursor::Event(id)) => Some(id),
                _ => None,
            };
            let pending = reader.pending_deliveries(&webhook.id, oldest, below, limit)?.into_iter();
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
    Ok(reader.attempts(&webhook.id, outcome, below, limit)?.into_iter().map(entry).collect())
}

impl EventLogEntry {
    pub(super) fn attempt(webhook: &Webhook, attempt: Attempt) -> Self {
        let number = Some(attempt.number);
        let (webhook, delivery) = (LoggedWebhook::new(webhook), attempt_view(attempt));
        Self { webhook, delivery, origin: EventOrigin::default(), number }
    }

    pub(super) fn pending(webhook: &Webhook, pending: PendingDelivery) -> Self {
        let (webhook, delivery) =
            (LoggedWebhook::new(webhook), pending_view(pending, webhook.is_active()));
        Self { webhook, delivery, origin: EventOrigin::default(), number: None }
    }
}

impl LoggedWebhook {
    fn new(webhook: &Webhook) -> Self {
        Self {
            webhook_id: webhook.id,
            api_key_id: webhook.api_key_id,
            url: webhook.url.clone(),
            description: webhook.description.clone(),
            status: webhook.status,
            paused: webhook.paused,
        }
    }
}

impl Owner<'_> {
    /// Counts the events of each kind in the newest 200 attempts at each webhook of a key. Without a key, uses the
    /// newest 50 webhooks of the account. Returns an empty list if the server offers only one kind of event.
    pub async fn event_kinds(
        &self,
        key: Option<&ApiKeyId>,
    ) -> Result<Vec<(EventKind, usize)>, Error> {
        let kinds: Vec<_> = self.accounts.core.settings.events.kinds().collect();
        if kinds.len() < 2 {
            return Ok(Vec::new());
        }
        let key = key.copied();
        self.read(move |_core, reader, account, now| {
            let mut ids = HashSet::new();
            for webhook in logged_webhooks(reader, account, key, now)?.first {
                let newest = reader.attempts(&webhook.id, None, None, COUNTED_MAX)?;
                ids.extend(newest.into_iter().map(|attempt| attempt.event_id));
            }
            let (envelopes, own): (Vec<_>, Vec<_>) =
                ids.into_iter().partition(EventId::is_envelope);
            let sources = reader.event_sources(&own)?;
            let count = |kind| match kind {
                EventKind::EnvelopeReceived => envelopes.len(),
                _ => sources.values().filter(|source| source.kind == kind).count(),
            };
            Ok(kinds.iter().map(|kind| (*kind, count(*kind))).collect())
        })
        .await
    }
}

/// Number of entries of each webhook that are read for a page filtered by kind.
const EXAMINED_MAX: u32 = 200;
/// Maximum number of webhooks in the log of a whole account.
const WEBHOOKS_MAX: u32 = 50;
/// Number of attempts at each webhook whose events are counted.
const COUNTED_MAX: u32 = 200;
