//! Loads the event of a delivery by its id.
//!
//! All stored events are envelopes at present. To store another kind of event, add a branch here. A claim should then
//! read the new kind with a separate statement, and only if the claim leased such deliveries.

use std::sync::Arc;

use diesel::{dsl::exists, prelude::*};
use sealpost_domain::{ApiKeyId, Event, EventId};

use crate::{
    connection::{AnyConnection, fault::Fault},
    rows::{columns, envelope::MetaRow},
    schema::envelopes as e,
};

/// Returns the event of a claimed delivery; `None` if the event is not stored any more.
///
/// An unknown kind of event is a fault, so that a newer version can still deliver the event.
pub(crate) fn read(id: &str, envelope: Option<MetaRow>) -> Result<Option<Event>, Fault> {
    match columns::id(id, "event")? {
        EventId::Envelope(_) => {
            let meta = envelope.map(MetaRow::read).transpose()?;
            Ok(meta.map(|meta| Event::EnvelopeReceived(Arc::new(meta))))
        }
        EventId::Own(_) => Err(Fault::Corrupt("event")),
    }
}

/// Returns whether the event is stored and belongs to this key.
pub(crate) fn is_stored(
    conn: &mut AnyConnection,
    id: &EventId,
    recipient: &ApiKeyId,
) -> Result<bool, Fault> {
    match id {
        EventId::Envelope(id) => {
            let envelope =
                e::table.find(id.to_string()).filter(e::recipient.eq(recipient.to_string()));
            Ok(diesel::select(exists(envelope)).get_result(conn)?)
        }
        EventId::Own(_) => Ok(false),
    }
}
