//! Rows of envelopes, and of the channels that they share. A new column must be declared here and in `schema`.

use sealpost_domain::{
    Channel, Envelope, EnvelopeHash, EnvelopeMeta, MessageContext, MessageType, Suite, ThreadId,
    Timestamp, TraceParent, ports::WaitingEnvelope,
};
use sha2::{Digest as _, Sha256};

use crate::{
    connection::query_error::QueryError,
    query::row_types::{SelectedRow as _, selected_row, stored_row},
    rows::columns,
    schema::{channels, envelopes, waiting_envelopes},
};

stored_row! {
    /// A new row of the table `envelopes`.
    pub(crate) struct EnvelopeRow<'a> in envelopes {
        id: String,
        sender: String,
        recipient: String,
        suite: i16,
        signature: &'a [u8],
        sealed: &'a [u8],
        payload_size_bytes: i64,
        created_at: i64,
        thread: Option<&'a str>,
        reply_to: Option<String>,
        message_type: Option<&'a str>,
        trace: Option<[u8; 25]>,
    }
}

impl<'a> EnvelopeRow<'a> {
    pub(crate) fn new(envelope: &'a Envelope) -> Result<Self, QueryError> {
        let meta = &envelope.meta;
        Ok(Self {
            id: meta.id.to_string(),
            sender: meta.sender.to_string(),
            recipient: meta.recipient.to_string(),
            suite: meta.suite.byte().into(),
            signature: &envelope.signature,
            sealed: &envelope.sealed,
            payload_size_bytes: columns::number(meta.payload_size_bytes, "envelope size")?,
            created_at: meta.timestamp.as_millis(),
            thread: meta.context.thread.as_ref().map(ThreadId::as_str),
            reply_to: meta.context.reply_to.as_ref().map(ToString::to_string),
            message_type: meta.context.message_type.as_ref().map(MessageType::as_str),
            trace: meta.trace.map(TraceParent::to_bytes),
        })
    }
}

selected_row! {
    /// The public metadata of an envelope, without its hash, which is not stored.
    pub(crate) struct MetaRow from envelopes {
        id: String,
        sender: String,
        recipient: String,
        suite: i16,
        payload_size_bytes: i64,
        created_at: i64,
        thread: Option<String>,
        reply_to: Option<String>,
        message_type: Option<String>,
        trace: Option<Vec<u8>>,
    }
}

/// The metadata of an envelope, and the SHA-256 of its sealed bytes.
pub(crate) type HashedMetaRow = (MetaRow, Vec<u8>);

impl MetaRow {
    /// Returns the columns of [`HashedMetaRow`] as text, with an alias of the table. PostgreSQL computes the hash.
    pub(crate) fn list_with_hash(alias: &str) -> String {
        format!("{}, sha256({alias}.sealed)", Self::list(alias))
    }

    /// Converts a row with the [`hash`] of its sealed bytes.
    pub(crate) fn read(self, hash: Vec<u8>) -> Result<EnvelopeMeta, QueryError> {
        let suite = u8::try_from(self.suite).ok().and_then(Suite::from_byte);
        Ok(EnvelopeMeta {
            id: columns::id(&self.id, "envelope")?,
            sender: columns::id(&self.sender, "envelope")?,
            recipient: columns::id(&self.recipient, "envelope")?,
            suite: suite.ok_or(QueryError::Corrupt("suite"))?,
            hash: EnvelopeHash(columns::bytes(hash, "envelope hash")?),
            payload_size_bytes: columns::number(self.payload_size_bytes, "envelope size")?,
            timestamp: Timestamp::from_millis(self.created_at),
            context: context((self.thread, self.reply_to, self.message_type))?,
            trace: self.trace.as_deref().and_then(TraceParent::from_bytes),
        })
    }
}

/// Returns the hash of an envelope with these sealed bytes.
pub(crate) fn hash(sealed: &[u8]) -> Vec<u8> {
    Sha256::digest(sealed).to_vec()
}

stored_row! {
    /// A new row of the table `channels`. A channel is one key encapsulation that many envelopes between two API keys
    /// share.
    pub(crate) struct ChannelRow<'a> in channels {
        id: String,
        sender: String,
        recipient: String,
        sealing_version: i32,
        encapsulation: &'a [u8],
        signature: &'a [u8],
    }
}

impl<'a> ChannelRow<'a> {
    pub(crate) fn new(channel: &'a Channel) -> Result<Self, QueryError> {
        Ok(Self {
            id: channel.id.to_string(),
            sender: channel.sender.to_string(),
            recipient: channel.recipient.to_string(),
            sealing_version: columns::number(channel.sealing_version, "sealing version")?,
            encapsulation: &channel.encapsulation,
            signature: &channel.signature,
        })
    }
}

/// The columns of a message context: thread, id of the envelope that this envelope replies to, message type.
pub(crate) type ContextColumns = (Option<String>, Option<String>, Option<String>);

/// Converts the columns of a message context.
pub(crate) fn context(
    (thread, reply_to, message_type): ContextColumns,
) -> Result<MessageContext, QueryError> {
    let fault = |_| QueryError::Corrupt("context of an envelope");
    Ok(MessageContext {
        thread: thread.map(|text| ThreadId::parse(&text)).transpose().map_err(fault)?,
        reply_to: reply_to.map(|id| columns::id(&id, "context of an envelope")).transpose()?,
        message_type: message_type.map(|it| MessageType::parse(&it)).transpose().map_err(fault)?,
    })
}

stored_row! {
    /// A new row of the table `waiting_envelopes`.
    pub(crate) struct WaitingRow in waiting_envelopes {
        envelope_id: String,
        recipient: String,
    }
}

impl WaitingRow {
    /// The column of the primary key.
    pub(crate) const KEY: &'static str = "envelope_id";
}

impl From<&WaitingEnvelope> for WaitingRow {
    fn from(waiting: &WaitingEnvelope) -> Self {
        Self {
            envelope_id: waiting.envelope_id.to_string(),
            recipient: waiting.recipient.to_string(),
        }
    }
}
