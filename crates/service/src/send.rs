//! The send path: prepare, seal, and commit in batches.

pub(crate) mod batch;
pub(crate) mod command;
mod commit;
mod commit_metrics;
pub(crate) mod committer;
pub(crate) mod message;
mod prepare;
mod reject;
mod send_message;
mod storage_room;
