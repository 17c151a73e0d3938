//! The endpoints `/v1/channel/…`: send a message in a sealed envelope, and open an envelope as its recipient.

pub(super) mod open;
pub(super) mod receipt;
pub(super) mod send;
