//! Reads envelopes and their channels (shared key encapsulations) for the recipient, and records the opening.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    ApiKeyId, Channel, ChannelId, Envelope, EnvelopeId, Timestamp,
    ports::{AddressedEnvelope, StoreError},
};

use crate::{
    connection::{
        AnyConnection,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::{row_types::SelectedRow, statement::Statement},
    queue::waiting,
    rows::{
        columns,
        envelope::{self, MetaRow},
    },
    schema::{channels as c, envelopes as e, handles as h},
};

impl Reader {
    /// Finds an envelope that is addressed to `recipient`. `None` if this key received no envelope with this id.
    pub fn find_envelope(
        &mut self,
        id: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<AddressedEnvelope>, StoreError> {
        type Row = (MetaRow, Vec<u8>, Vec<u8>, Option<i64>, Option<String>);
        let addressed = e::table
            .left_join(h::table.on(h::api_key_id.eq(e::sender)))
            .filter(e::id.eq(id.to_string()))
            .filter(e::recipient.eq(recipient.to_string()))
            .select((
                MetaRow::SELECTION,
                e::sealed,
                e::signature,
                e::opened_at,
                h::handle.nullable(),
            ));
        self.first(addressed, |(meta, sealed, signature, opened_at, handle): Row| {
            let signature = columns::bytes(signature, "signature")?;
            Ok(AddressedEnvelope {
                envelope: Envelope { meta: meta.read(envelope::hash(&sealed))?, sealed, signature },
                opened_at: columns::instant(opened_at),
                sender_handle: handle.as_deref().map(columns::handle).transpose()?,
            })
        })
    }
}

impl Transaction {
    /// Finds a channel: one key encapsulation that many envelopes share. The recipient needs the channel to open these
    /// envelopes. `None` if there is no channel with this id.
    pub fn find_channel(&mut self, id: &ChannelId) -> Result<Option<Channel>, StoreError> {
        type Row = (String, String, String, i32, Vec<u8>, Vec<u8>);
        let channel = c::table.find(id.to_string());
        self.first(channel, |(id, sender, recipient, version, encapsulation, signature): Row| {
            Ok(Channel {
                id: columns::id(&id, "channel")?,
                sender: columns::id(&sender, "channel")?,
                recipient: columns::id(&recipient, "channel")?,
                sealing_version: columns::number(version, "sealing version")?,
                encapsulation,
                signature: columns::bytes(signature, "signature")?,
            })
        })
    }

    /// Records `at` as the time of the first opening, unless an earlier opening is already recorded. Returns the
    /// recorded time of the first opening. `None` if there is no envelope with this id.
    pub fn mark_opened(
        &mut self,
        id: &EnvelopeId,
        at: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let envelope = e::table.find(id.to_string());
        self.run(|conn| {
            if mark_opened(conn, &id.to_string(), at)? {
                return Ok(Some(at));
            }
            let before = envelope.select(e::opened_at).first::<Option<i64>>(conn).optional()?;
            Ok(columns::instant(before.flatten()))
        })
    }
}

/// Records the first opening of an envelope, which then no longer waits for a webhook. Returns `false` if the envelope
/// was opened before.
fn mark_opened(conn: &mut AnyConnection, id: &str, at: Timestamp) -> Result<bool, QueryError> {
    let opened = match conn {
        AnyConnection::Postgres(pg) => Statement::command(
            "/* envelopes.mark_opened */ WITH ended AS (DELETE FROM waiting_envelopes WHERE envelope_id = ?)
             UPDATE envelopes SET opened_at = ? WHERE id = ? AND opened_at IS NULL",
        )
        .bind::<Text, _>(id)
        .bind::<BigInt, _>(at.as_millis())
        .bind::<Text, _>(id)
        .execute(pg)?,
        AnyConnection::Sqlite(_) => {
            waiting::end(conn, id)?;
            let unopened = e::table.find(id).filter(e::opened_at.is_null());
            diesel::update(unopened).set(e::opened_at.eq(at.as_millis())).execute(conn)?
        }
    };
    Ok(opened == 1)
}
