//! Rows of the table `events`, which contains all events except received envelopes.

use diesel::prelude::*;
use sealpost_domain::{NewEvent, StoredEvent, Timestamp};

use crate::{
    connection::query_error::QueryError, query::row_types::stored_row, rows::columns,
    schema::events,
};

stored_row! {
    /// A new row of the table `events`.
    pub(crate) struct EventRow in events {
        id: String,
        kind: &'static str,
        api_key_id: String,
        created_at: i64,
        body: String,
    }
}

impl EventRow {
    pub(crate) fn new(event: &NewEvent) -> Result<Self, QueryError> {
        let body = serde_json::to_string(&event.body());
        Ok(Self {
            id: event.id.to_string(),
            kind: event.kind().as_str(),
            api_key_id: event.api_key_id.to_string(),
            created_at: event.created_at.as_millis(),
            body: body.ok().ok_or(QueryError::Corrupt("body of an event"))?,
        })
    }
}

/// The columns of a stored event that a delivery needs. The kind is left out, so that an older version of the server
/// can deliver events of newer kinds.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = events)]
pub(crate) struct StoredEventRow {
    pub(crate) id: String,
    created_at: i64,
    body: String,
}

impl StoredEventRow {
    pub(crate) fn read(self) -> Result<StoredEvent, QueryError> {
        Ok(StoredEvent {
            id: columns::id(&self.id, "event")?,
            created_at: Timestamp::from_millis(self.created_at),
            body: self.body,
        })
    }
}
