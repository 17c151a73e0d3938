//! Parameters and results of bulk changes to deliveries and waiting envelopes. One call changes a limited number of
//! rows.

use crate::{ApiKeyId, EnvelopeId, Timestamp};

/// Selects deliveries by the time of their newest failure.
#[derive(Debug, Clone, Copy)]
pub struct FailureRange {
    /// Earliest time of the failure, inclusive.
    pub since: Timestamp,
    /// Latest time of the failure, inclusive.
    pub until: Timestamp,
    /// Time before which events have expired. Deliveries of expired events are not selected.
    pub oldest: Timestamp,
    /// Maximum number of deliveries to change.
    pub limit: u32,
    /// If true, only counts the matching deliveries and changes none.
    pub counted_only: bool,
}

/// The result of a recovery, which makes failed deliveries due again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoverySummary {
    /// Number of deliveries that match the range, at most its limit.
    pub matched: u64,
    /// Number of deliveries that this call made due.
    pub recovered: u64,
    /// True if more deliveries match the range than its limit.
    pub more: bool,
}

/// An envelope that waits until its recipient has a webhook for received envelopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingEnvelope {
    /// The envelope.
    pub envelope_id: EnvelopeId,
    /// The API key that can open the envelope.
    pub recipient: ApiKeyId,
}

/// The result of one transfer step: a limited number of a key's waiting envelopes got deliveries to a webhook, or
/// bounced because the key is revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingTransfer {
    /// The key whose envelopes waited.
    pub api_key_id: ApiKeyId,
    /// Number of envelopes that no longer wait because of this step.
    pub transferred: u64,
}
