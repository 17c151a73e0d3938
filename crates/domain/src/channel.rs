//! Channels: one encapsulation from a sender to a recipient, which many envelopes are sealed under. What is stored of
//! one is what its recipient needs to open them.

use std::fmt;

use crate::{ApiKeyId, ChannelId};

/// A channel as it is stored: nothing secret, and nothing of it can change without the recipient noticing.
#[derive(Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its id, whose time is when it began.
    pub id: ChannelId,
    /// Who seals envelopes under it.
    pub sender: ApiKeyId,
    /// Whose key opens them.
    pub recipient: ApiKeyId,
    /// The version of the recipient's sealing key.
    pub sealing_version: u32,
    /// What the recipient's sealing key turns into the channel's secret.
    pub encapsulation: Vec<u8>,
    /// By the sender's DID key, over all of the above.
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
