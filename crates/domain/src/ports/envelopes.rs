//! The port for stored envelopes and channels.

use super::error::StoreError;
use crate::{ApiKeyId, Channel, ChannelId, Envelope, EnvelopeId, Timestamp};

/// Reads stored envelopes and channels, and records openings.
pub trait EnvelopeRepo {
    /// Finds an envelope that is addressed to `recipient`. Also returns the time of its first opening; `None` if it was
    /// not opened.
    fn find_envelope(
        &mut self,
        id: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<(Envelope, Option<Timestamp>)>, StoreError>;

    /// Finds the channel of an envelope.
    fn find_channel(&mut self, id: &ChannelId) -> Result<Option<Channel>, StoreError>;

    /// Records the first opening and returns its time. An earlier recorded time stays.
    fn mark_opened(&mut self, id: &EnvelopeId, at: Timestamp) -> Result<Timestamp, StoreError>;
}
