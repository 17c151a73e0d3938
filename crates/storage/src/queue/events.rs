//! Stores new events, and finds the event of a delivery by its id.
//!
//! A received envelope is also an event, but has no row in the table `events`. So storing an envelope writes no event
//! row.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use diesel::{connection::SimpleConnection as _, dsl::exists, prelude::*};
use sealpost_domain::{
    ApiKeyId, Event, EventId, EventKind, NewEvent, OwnEventId, StoredEvent, Timestamp,
    ports::{EventSource, StoreError},
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::{
        any_of::any_of,
        row_types::{SelectedRow, columns_of, insert_missing},
    },
    queue::statements,
    rows::{
        columns,
        delivery::{ClaimedRow, DeliveryRow},
        envelope::{self, HashedMetaRow, MetaRow},
        event::{EventRow, StoredEventRow},
    },
    schema::{envelopes as e, events as v, handles as h, webhooks as w},
};

impl Transaction {
    /// Stores events, each with a delivery to every webhook of its key that subscribes to its kind. The deliveries are
    /// due at once. Skips events without such a webhook, and events that are already stored.
    pub fn insert_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError> {
        self.run(|conn| store(conn, events).map(drop))
    }
}

/// Rows of the table `events`, by the id of the event.
pub(crate) type StoredEvents = HashMap<String, Arc<StoredEvent>>;

/// Stores events with deliveries that are due at the times of the events: see [`store_due_at`].
pub(crate) fn store(
    conn: &mut AnyConnection,
    new: &[NewEvent],
) -> Result<HashSet<String>, QueryError> {
    store_due_at(conn, new, |event| event.created_at)
}

/// Stores events, each with a delivery to every webhook of its key that subscribes to its kind. A webhook gets no
/// events about itself. Skips events without a delivery, and events that are already stored. Returns the ids of the
/// stored events.
///
/// `due_at` returns the due time of an event's deliveries, which must not be long ago: claims search due times of more
/// than a minute ago only once a minute.
///
/// Needs no lock on the webhooks, because the next claim postpones (parks) the deliveries to disabled webhooks.
pub(crate) fn store_due_at(
    conn: &mut AnyConnection,
    new: &[NewEvent],
    due_at: impl Fn(&NewEvent) -> Timestamp,
) -> Result<HashSet<String>, QueryError> {
    if new.is_empty() {
        return Ok(HashSet::new());
    }
    let webhooks = webhooks_of(conn, new)?;
    let (mut events, mut deliveries) = (Vec::new(), Vec::new());
    for event in new {
        let row = EventRow::new(event)?;
        let subject = event.details.subject().map(|id| id.to_string());
        let is_subject = |id: &String| Some(id) == subject.as_ref();
        let of_key = webhooks.get(&row.api_key_id).into_iter().flatten();
        let subscribed: Vec<_> =
            of_key.filter(|(id, kinds)| kinds.contains(&event.kind()) && !is_subject(id)).collect();
        if subscribed.is_empty() {
            continue;
        }
        let (to, due_at) = (subscribed.into_iter(), due_at(event).as_millis());
        deliveries.extend(to.map(|(id, _)| DeliveryRow::new(row.id.clone(), id.clone(), due_at)));
        events.push(row);
    }
    if events.is_empty() {
        return Ok(HashSet::new());
    }
    commit_durably(conn)?;
    let stored: HashSet<_> = statements::insert_events(conn, &events)?.into_iter().collect();
    deliveries.retain(|delivery: &DeliveryRow| stored.contains(&delivery.event_id));
    insert_missing(conn, &deliveries, DeliveryRow::KEY)?;
    Ok(stored)
}

/// Makes the commit of this transaction wait for the disk. Otherwise, a crash of PostgreSQL could lose an event that a
/// receiver already has. The service would then store the event again under another id, and the receiver could not
/// recognise the repetition. Does nothing on SQLite, which loses such commits only if the machine crashes.
fn commit_durably(conn: &mut AnyConnection) -> Result<(), QueryError> {
    if let AnyConnection::Postgres(pg) = conn {
        pg.batch_execute(
            "/* events.commit_durably */ SELECT set_config('synchronous_commit', 'on', true)
             WHERE current_setting('synchronous_commit') = 'off'",
        )?;
    }
    Ok(())
}

/// Id of a webhook, and the kinds of events that the webhook subscribes to.
type Subscription = (String, Vec<EventKind>);

/// Returns the webhooks of the API keys to which the events belong, by key.
fn webhooks_of(
    conn: &mut AnyConnection,
    new: &[NewEvent],
) -> Result<HashMap<String, Vec<Subscription>>, QueryError> {
    let keys: BTreeSet<_> = new.iter().map(|event| event.api_key_id.to_string()).collect();
    let rows = w::table.filter(any_of(w::api_key_id, keys)).order(w::id).select((
        w::api_key_id,
        w::id,
        w::events,
    ));
    let mut webhooks = HashMap::<_, Vec<_>>::new();
    for (key, id, names) in on_backend!(conn, c => rows.load::<(String, String, String)>(c))? {
        webhooks.entry(key).or_default().push((id, columns::known_events(&names)));
    }
    Ok(webhooks)
}

/// Loads the stored events of deliveries that a node has claimed (leased). Executes no statement if all events are
/// received envelopes, as in most claims.
pub(crate) fn load(
    conn: &mut AnyConnection,
    claimed: &[ClaimedRow],
) -> Result<StoredEvents, QueryError> {
    let ids = claimed.iter().map(|row| &row.event_id);
    let ids: BTreeSet<_> = ids.filter(|id| id.starts_with(OwnEventId::PREFIX)).collect();
    if ids.is_empty() {
        return Ok(StoredEvents::new());
    }
    let rows = v::table.filter(any_of(v::id, ids)).select(columns_of::<StoredEventRow>());
    let rows = on_backend!(conn, c => rows.load::<StoredEventRow>(c))?;
    rows.into_iter().map(|row| Ok((row.id.clone(), Arc::new(row.read()?)))).collect()
}

/// Returns the event of a claimed (leased) delivery; `None` if the event has been deleted.
pub(crate) fn read(
    id: &str,
    envelope: Option<HashedMetaRow>,
    sender_handle: Option<&str>,
    stored: &StoredEvents,
) -> Result<Option<Event>, QueryError> {
    Ok(match columns::id(id, "event")? {
        EventId::Envelope(_) => {
            let sender_handle = sender_handle.map(columns::handle).transpose()?;
            let meta = envelope.map(|(meta, hash)| meta.read(hash)).transpose()?;
            meta.map(|meta| Event::received(meta, sender_handle))
        }
        EventId::Own(_) => stored.get(id).map(|event| Event::Stored(Arc::clone(event))),
    })
}

/// An envelope with its sealed bytes, and the current handle of its sender.
type SealedRow = (MetaRow, Vec<u8>, Option<String>);

impl Reader {
    /// Finds an event of a key. `None` if the event is not stored, or belongs to another key.
    pub fn find_event(
        &mut self,
        key: &ApiKeyId,
        id: &EventId,
    ) -> Result<Option<Event>, StoreError> {
        self.run(|conn| {
            let (key, id) = (key.to_string(), id.to_string());
            if id.starts_with(OwnEventId::PREFIX) {
                let event = v::table.find(&id).filter(v::api_key_id.eq(key));
                let row =
                    event.select(columns_of::<StoredEventRow>()).first::<StoredEventRow>(conn);
                let event = row.optional()?.map(StoredEventRow::read).transpose()?;
                return Ok(event.map(|event| Event::Stored(Arc::new(event))));
            }
            let envelope = e::table
                .find(&id)
                .filter(e::recipient.eq(key))
                .left_join(h::table.on(h::api_key_id.eq(e::sender)));
            let row = envelope.select((MetaRow::SELECTION, e::sealed, h::handle.nullable()));
            let Some((meta, sealed, handle)) = row.first::<SealedRow>(conn).optional()? else {
                return Ok(None);
            };
            let handle = handle.as_deref().map(columns::handle).transpose()?;
            Ok(Some(Event::received(meta.read(envelope::hash(&sealed))?, handle)))
        })
    }

    /// Finds the key that an event belongs to. For a received envelope, this is the recipient. `None` if the event is
    /// not stored.
    pub fn key_of_event(&mut self, id: &EventId) -> Result<Option<ApiKeyId>, StoreError> {
        let text = id.to_string();
        let read = |key: String| columns::id(&key, "event");
        if id.is_envelope() {
            self.first(e::table.find(text).select(e::recipient), read)
        } else {
            self.first(v::table.find(text).select(v::api_key_id), read)
        }
    }

    /// Finds the kinds and the senders of events. Omits events that are no longer stored, and events of unknown kinds.
    pub fn event_sources(
        &mut self,
        ids: &[EventId],
    ) -> Result<HashMap<EventId, EventSource>, StoreError> {
        self.run(|conn| {
            let (envelopes, own): (Vec<_>, Vec<_>) = ids.iter().partition(|id| id.is_envelope());
            let mut sources = HashMap::new();
            if !envelopes.is_empty() {
                let senders =
                    e::table.filter(any_of(e::id, envelopes.into_iter().map(EventId::to_string)));
                let senders = senders.select((e::id, e::sender));
                for (id, sender) in on_backend!(conn, c => senders.load::<(String, String)>(c))? {
                    let sender = Some(columns::id(&sender, "envelope")?);
                    let source = EventSource { kind: EventKind::EnvelopeReceived, sender };
                    sources.insert(columns::id(&id, "envelope")?, source);
                }
            }
            if !own.is_empty() {
                let kinds = v::table.filter(any_of(v::id, own.into_iter().map(EventId::to_string)));
                let kinds = kinds.select((v::id, v::kind));
                for (id, kind) in on_backend!(conn, c => kinds.load::<(String, String)>(c))? {
                    if let Some(kind) = EventKind::from_name(&kind) {
                        sources
                            .insert(columns::id(&id, "event")?, EventSource { kind, sender: None });
                    }
                }
            }
            Ok(sources)
        })
    }
}

/// Returns whether the event is stored, belongs to this key, and is of a kind that the webhook subscribes to.
pub(crate) fn is_deliverable(
    conn: &mut AnyConnection,
    id: &EventId,
    key: &ApiKeyId,
    webhook_id: &str,
) -> Result<bool, QueryError> {
    let key = key.to_string();
    let kind = match id {
        EventId::Envelope(id) => {
            let envelope = e::table.find(id.to_string()).filter(e::recipient.eq(key));
            let is_stored: bool = diesel::select(exists(envelope)).get_result(conn)?;
            is_stored.then(|| EventKind::EnvelopeReceived.as_str().to_owned())
        }
        EventId::Own(id) => {
            let event = v::table.find(id.to_string()).filter(v::api_key_id.eq(key));
            event.select(v::kind).first::<String>(conn).optional()?
        }
    };
    let Some(kind) = kind else { return Ok(false) };
    let names = w::table.find(webhook_id).select(w::events).first::<String>(conn).optional()?;
    Ok(names.is_some_and(|names| names.split(columns::EVENTS_SEPARATOR).any(|it| it == kind)))
}
