//! Tests of the HTTP API: sending and opening messages, HTTP rules, error responses and their order, idempotency,
//! sessions.

mod advice;
mod ambiguous;
mod batches;
mod check_order;
mod context;
mod framing;
mod http;
mod idempotency;
mod main_job;
mod operator_check_order;
mod policy;
mod refusals;
mod senders;
mod sent;
mod sessions;
mod traces;
