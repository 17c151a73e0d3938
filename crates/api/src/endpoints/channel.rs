//! The endpoints `/v1/channel/…`: send messages in sealed envelopes, list the sent envelopes with their states, open an
//! envelope as its recipient, and prove what happened to it.

pub(super) mod mailbox;
pub(super) mod send;
pub(super) mod send_batch;
