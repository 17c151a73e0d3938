//! Stored envelopes: opening by the recipient; lists and receipts for the sender.

pub(crate) mod list_sent;
pub(crate) mod open;
