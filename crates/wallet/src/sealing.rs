//! Seals (encrypts and signs) and opens envelopes. An envelope has a key encapsulation of its own, or shares one with
//! the other envelopes of a channel.

mod channel;
mod envelope;
mod suite;

#[cfg(test)]
mod vectors;

pub use channel::{ChannelDraft, ChannelReceiver, ChannelSender, channel_of};
pub use envelope::{EnvelopeDraft, open, seal};
pub(crate) use suite::SealingKey;
pub use suite::SealingPublicKey;
