//! Stored envelopes: opening by the recipient; lists and receipts for the sender; evidence for both.

pub(crate) mod evidence;
pub(crate) mod list_sent;
pub(crate) mod open;
