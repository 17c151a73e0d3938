//! Stored envelopes: opening by the recipient, and receipts (the state of an envelope) for the sender.

pub(crate) mod open;
pub(crate) mod receipt;
