//! Channels: key encapsulations (HPKE) from a sender to a recipient. One encapsulation serves many envelopes, because a
//! separate one for each envelope would be slow.

use std::fmt;

use crate::{ApiKeyId, ChannelId};

/// The stored part of a channel. The recipient needs it to open the envelopes of the channel. Contains no secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Channel {
    /// Public id of the channel, with the prefix `chn_`. The timestamp in the id is the start of the channel.
    pub id: ChannelId,
    /// The API key of the sender.
    pub sender: ApiKeyId,
    /// The API key of the recipient.
    pub recipient: ApiKeyId,
    /// Version of the recipient's sealing key (the key pair of the encapsulation), from 1.
    pub sealing_version: u32,
    /// The HPKE encapsulation: 1,120 bytes for X-Wing. With its sealing key, the recipient derives the shared secret of
    /// the channel from these bytes.
    pub encapsulation: Vec<u8>,
    /// Ed25519 signature over all fields above, made with the sender's DID key.
    pub signature: [u8; 64],
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("id", &self.id)
            .field("sender", &self.sender)
            .field("recipient", &self.recipient)
            .field("sealing_version", &self.sealing_version)
            .finish_non_exhaustive()
    }
}
