//! Sealing and opening of envelopes: alone, or in a channel.

mod channel;
mod envelope;
mod suite;

#[cfg(test)]
mod vectors;

pub use channel::{ChannelDraft, ChannelReceiver, ChannelSender, channel_of};
pub use envelope::{EnvelopeDraft, open, seal};
pub(crate) use suite::SealingKey;
pub use suite::SealingPublicKey;
