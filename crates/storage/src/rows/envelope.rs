//! Rows of the table `envelopes`. A new column must be declared here and in `schema`.

use sealpost_domain::{Envelope, EnvelopeHash, EnvelopeMeta, Suite, Timestamp};

use crate::{
    connection::fault::Fault,
    query::row_types::{selected_row, stored_row},
    rows::columns,
    schema::envelopes,
};

stored_row! {
    /// A new row of the table `envelopes`.
    pub(crate) struct EnvelopeRow<'a> in envelopes {
        id: String,
        sender: String,
        recipient: String,
        suite: i16,
        hash: &'a [u8],
        signature: &'a [u8],
        sealed: &'a [u8],
        payload_size_bytes: i64,
        created_at: i64,
    }
}

impl<'a> EnvelopeRow<'a> {
    pub(crate) fn of(envelope: &'a Envelope) -> Result<Self, Fault> {
        let meta = &envelope.meta;
        Ok(Self {
            id: meta.id.to_string(),
            sender: meta.sender.to_string(),
            recipient: meta.recipient.to_string(),
            suite: meta.suite.byte().into(),
            hash: &meta.hash.0,
            signature: &envelope.signature,
            sealed: &envelope.sealed,
            payload_size_bytes: columns::number(meta.payload_size_bytes, "envelope size")?,
            created_at: meta.timestamp.as_millis(),
        })
    }
}

selected_row! {
    /// The public metadata of an envelope: all columns but the sealed bytes and the signature.
    pub(crate) struct MetaRow from envelopes {
        id: String,
        sender: String,
        recipient: String,
        suite: i16,
        hash: Vec<u8>,
        payload_size_bytes: i64,
        created_at: i64,
    }
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
