//! The send path: reads the request, seals the message, and commits envelopes in batches.

pub(crate) mod batch;
pub(crate) mod command;
mod commit;
mod commit_metrics;
pub(crate) mod committer;
pub(crate) mod message;
mod prepare;
pub(crate) mod send_batch;
mod send_message;
mod storage_room;
