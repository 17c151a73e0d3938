//! The number of waiting envelopes. An envelope waits if its recipient has no webhook for received envelopes.

use schemars::JsonSchema;
use sealpost_domain::{ApiKeyId, ports::StoreError};
use sealpost_storage::Reader;
use serde::Serialize;

use crate::sealpost::core::Core;

/// The number of waiting envelopes of a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WaitingCount {
    /// Number of envelopes that wait for a webhook of the key, at most 10,000.
    pub waiting: u64,
    /// Whether more envelopes wait than `waiting` counts.
    pub waiting_more: bool,
}

/// The choice at the registration of a key's first webhook: deliver or skip the waiting envelopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WaitingChoice {
    /// The webhook receives the waiting envelopes, oldest first.
    #[default]
    Deliver,
    /// No webhook receives the waiting envelopes.
    Skip,
}

impl WaitingCount {
    /// Creates the number from `counted`, the result of a count that stops at `max` plus one.
    pub(crate) fn of(counted: u64, max: u32) -> Self {
        let max = u64::from(max);
        Self { waiting: counted.min(max), waiting_more: counted > max }
    }
}

impl Core {
    /// Counts the waiting envelopes of a key.
    pub(crate) fn count_waiting(
        &self,
        reader: &mut Reader,
        key: &ApiKeyId,
    ) -> Result<WaitingCount, StoreError> {
        let max = self.settings.waiting_counted_max;
        let oldest = self.kept_since(self.clock.now());
        Ok(WaitingCount::of(reader.count_waiting(key, oldest, max.saturating_add(1))?, max))
    }
}
