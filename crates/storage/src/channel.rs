//! Channels that were stored.

use diesel::prelude::*;
use sealpost_domain::{Channel, ChannelId};

use crate::{
    batch::ChannelRow, columns, connection::AnyConnection, fault::Fault, schema::channels as c,
};

#[derive(Debug, Queryable)]
struct FoundRow {
    id: String,
    sender: String,
    recipient: String,
    sealing_version: i32,
    encapsulation: Vec<u8>,
    signature: Vec<u8>,
}

/// A channel as it is stored.
pub(crate) fn row(channel: &Channel) -> Result<ChannelRow<'_>, Fault> {
    Ok(ChannelRow {
        id: channel.id.to_string(),
        sender: channel.sender.to_string(),
        recipient: channel.recipient.to_string(),
        sealing_version: columns::number(channel.sealing_version, "sealing version")?,
        encapsulation: &channel.encapsulation,
        signature: &channel.signature,
    })
}

pub(crate) fn find(conn: &mut AnyConnection, id: &ChannelId) -> Result<Option<Channel>, Fault> {
    let found = c::table.find(id.to_string()).first::<FoundRow>(conn).optional()?;
    found.map(FoundRow::read).transpose()
}

impl FoundRow {
    fn read(self) -> Result<Channel, Fault> {
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
