//! Envelopes that were stored.

use diesel::prelude::*;
use sealpost_domain::{
    ApiKeyId, Channel, ChannelId, Envelope, EnvelopeHash, EnvelopeId, EnvelopeMeta, Suite,
    Timestamp,
    ports::{EnvelopeRepo, StoreError},
};

use crate::{channel, columns, fault::Fault, schema::envelopes as e, unit::Unit};

/// What may be told of an envelope: everything but the sealed bytes and what proves them.
pub(crate) const META: MetaColumns =
    (e::id, e::sender, e::recipient, e::suite, e::hash, e::payload_size_bytes, e::created_at);

pub(crate) type MetaColumns =
    (e::id, e::sender, e::recipient, e::suite, e::hash, e::payload_size_bytes, e::created_at);

/// As [`META`] selects it.
#[derive(Debug, Clone, Queryable)]
pub(crate) struct MetaRow {
    id: String,
    sender: String,
    recipient: String,
    suite: i16,
    hash: Vec<u8>,
    payload_size_bytes: i64,
    created_at: i64,
}

impl MetaRow {
    pub(crate) fn read(self) -> Result<EnvelopeMeta, Fault> {
        let suite = u8::try_from(self.suite).ok().and_then(Suite::from_byte);
        Ok(EnvelopeMeta {
            id: columns::id(&self.id, "envelope")?,
            sender: columns::id(&self.sender, "envelope")?,
            recipient: columns::id(&self.recipient, "envelope")?,
            suite: suite.ok_or(Fault::Corrupt("suite"))?,
            hash: EnvelopeHash(columns::bytes(self.hash, "envelope hash")?),
            payload_size_bytes: columns::number(self.payload_size_bytes, "envelope size")?,
            timestamp: Timestamp::from_millis(self.created_at),
        })
    }
}

impl EnvelopeRepo for Unit {
    fn find_envelope(
        &mut self,
        id: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<(Envelope, Option<Timestamp>)>, StoreError> {
        let addressed = e::table
            .find(id.to_string())
            .filter(e::recipient.eq(recipient.to_string()))
            .select((META, e::sealed, e::signature, e::opened_at));
        self.run(|conn| {
            let row = addressed.first::<(MetaRow, Vec<u8>, Vec<u8>, Option<i64>)>(conn);
            let Some((meta, sealed, signature, opened_at)) = row.optional()? else {
                return Ok(None);
            };
            let signature = columns::bytes(signature, "signature")?;
            let envelope = Envelope { meta: meta.read()?, sealed, signature };
            Ok(Some((envelope, columns::instant(opened_at))))
        })
    }

    fn find_channel(&mut self, id: &ChannelId) -> Result<Option<Channel>, StoreError> {
        self.run(|conn| channel::find(conn, id))
    }

    fn mark_opened(&mut self, id: &EnvelopeId, at: Timestamp) -> Result<Timestamp, StoreError> {
        let envelope = e::table.find(id.to_string());
        self.run(|conn| {
            let unopened = envelope.clone().filter(e::opened_at.is_null());
            let first = diesel::update(unopened).set(e::opened_at.eq(at.as_millis()));
            if first.execute(conn)? == 1 {
                return Ok(at);
            }
            let before = envelope.select(e::opened_at).first::<Option<i64>>(conn).optional()?;
            columns::instant(before.flatten()).ok_or(Fault::Corrupt("opening of an envelope"))
        })
    }
}
