//! Finds the names of the senders and recipients of messages, for the pages of the dashboard.

use std::collections::{BTreeSet, HashMap};

use sealpost_domain::{
    ApiKeyId, EventId, EventKind, Handle, Label,
    ports::{EventSource, StoreError},
};
use sealpost_storage::Reader;

/// The sender or the recipient of an envelope, with the names that others can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correspondent {
    /// The API key.
    pub api_key_id: ApiKeyId,
    /// The handle of the key. `None` if the key has none.
    pub handle: Option<Handle>,
    /// The label of the key. `None` if the policy of the key hides it.
    pub label: Option<Label>,
}

/// The kind of an event, and the sender if the event is a received envelope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventOrigin {
    /// The kind of the event. `None` if the event is no longer stored.
    pub kind: Option<EventKind>,
    /// The sender of the envelope. `None` for an event of another kind, and if the envelope is no longer stored.
    pub from: Option<Correspondent>,
}

/// Finds the handles and labels of these keys, as far as other keys can see them. The result contains all keys; an
/// unknown key has no names.
pub(crate) fn correspondents(
    reader: &mut Reader,
    keys: impl IntoIterator<Item = ApiKeyId>,
) -> Result<HashMap<ApiKeyId, Correspondent>, StoreError> {
    let keys: Vec<_> = keys.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let mut profiles = reader.find_profiles(&keys)?;
    let named = |key: ApiKeyId| {
        let profile = profiles.remove(&key);
        let (handle, label) = profile.map_or((None, None), |it| (it.handle, it.label));
        (key, Correspondent { api_key_id: key, handle, label })
    };
    Ok(keys.into_iter().map(named).collect())
}

/// Finds the names of a key, as far as other keys can see the names. An unknown key has no names.
pub(crate) fn correspondent(
    reader: &mut Reader,
    key: ApiKeyId,
) -> Result<Correspondent, StoreError> {
    let found = correspondents(reader, [key])?.remove(&key);
    Ok(found.unwrap_or(Correspondent { api_key_id: key, handle: None, label: None }))
}

/// Finds the kinds and the senders of events. Omits events that are no longer stored.
pub(super) fn origins(
    reader: &mut Reader,
    ids: &[EventId],
) -> Result<HashMap<EventId, EventOrigin>, StoreError> {
    let sources = reader.event_sources(ids)?;
    let senders = sources.values().filter_map(|source| source.sender);
    let senders = correspondents(reader, senders)?;
    let origin = |(id, EventSource { kind, sender })| {
        let from = sender.and_then(|key| senders.get(&key).cloned());
        (id, EventOrigin { kind: Some(kind), from })
    };
    Ok(sources.into_iter().map(origin).collect())
}
