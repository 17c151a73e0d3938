//! Stored envelopes: opening by the recipient, and receipts for the sender.

pub(crate) mod open;
pub(crate) mod receipt;
