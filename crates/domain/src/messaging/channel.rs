//! Channels. A channel is one encapsulation from a sender to a recipient, under which many
//! envelopes are sealed. The stored part lets the recipient open those envelopes.

use std::fmt;

use crate::{ApiKeyId, ChannelId};

/// The stored part of a channel. It holds no secret. The signature covers every other field.
#[derive(Clone, PartialEq, Eq)]
pub struct Channel {
    /// Public id, prefix `chn_`. Its timestamp is the start of the channel.
    pub id: ChannelId,
    /// The key that seals envelopes.
    pub sender: ApiKeyId,
    /// The key that opens envelopes.
    pub recipient: ApiKeyId,
    /// Version of the recipient's sealing key, from 1.
    pub sealing_version: u32,
    /// HPKE encapsulation, 1,120 bytes for X-Wing. The recipient's sealing key derives the
    /// channel's secret from it.
    pub encapsulation: Vec<u8>,
    /// Ed25519 signature of the sender's DID key over all fields above.
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
