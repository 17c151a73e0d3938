//! Rows of channels. A channel is one key encapsulation that many envelopes between two API keys share.

use diesel::Queryable;
use sealpost_domain::Channel;

use crate::{
    connection::fault::Fault, query::row_types::stored_row, rows::columns, schema::channels,
};

stored_row! {
    /// A new row of the table `channels`.
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
    pub(crate) fn new(channel: &'a Channel) -> Result<Self, Fault> {
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

/// A row of the table `channels`, as queries read it.
#[derive(Debug, Queryable)]
pub(crate) struct StoredChannelRow {
    id: String,
    sender: String,
    recipient: String,
    sealing_version: i32,
    encapsulation: Vec<u8>,
    signature: Vec<u8>,
}

impl StoredChannelRow {
    pub(crate) fn read(self) -> Result<Channel, Fault> {
        Ok(Channel {
            id: columns::id(&self.id, "channel")?,
            sender: columns::id(&self.sender, "channel")?,
            recipient: columns::id(&self.recipient, "channel")?,
            sealing_version: columns::number(self.sealing_version, "sealing version")?,
            encapsulation: self.encapsulation,
            signature: columns::bytes(self.signature, "signature")?,
        })
    }
}
