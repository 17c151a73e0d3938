//! Sends requests over HTTP/1.1 and reads responses.
//!
//! [`client`] makes one request. [`target_sender`] adds the signing keys of a webhook. [`sender_cache`] bounds the
//! number of open connections. [`attempt_report`] is the result of an attempt.

pub(crate) mod attempt_report;
pub(crate) mod client;
mod metrics;
pub(crate) mod sender_cache;
pub(crate) mod target_sender;
pub(crate) mod tls;
