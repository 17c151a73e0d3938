//! Rows of waiting envelopes: envelopes to recipients without a webhook for received envelopes.

use sealpost_domain::ports::WaitingEnvelope;

use crate::{query::row_types::stored_row, schema::waiting_envelopes};

stored_row! {
    /// A new row of the table `waiting_envelopes`.
    pub(crate) struct WaitingRow in waiting_envelopes {
        envelope_id: String,
        recipient: String,
    }
}

impl From<&WaitingEnvelope> for WaitingRow {
    fn from(waiting: &WaitingEnvelope) -> Self {
        Self {
            envelope_id: waiting.envelope_id.to_string(),
            recipient: waiting.recipient.to_string(),
        }
    }
}
