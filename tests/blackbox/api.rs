//! The HTTP API: the main job, protocol rules, refusals and their order, idempotency, sessions.

mod check_order;
mod http;
mod idempotency;
mod main_job;
mod operator_check_order;
mod policy;
mod refusals;
mod senders;
mod sessions;
