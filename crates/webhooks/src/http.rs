//! Sends webhook requests over HTTP/1.1 and reads the responses.
//!
//! [`client`] makes one request. [`target_sender`] holds the client and the signing keys of one target.
//! [`sender_cache`] bounds the number of open connections. [`response`] reads responses.

pub(crate) mod client;
mod metrics;
mod response;
pub(crate) mod sender_cache;
pub(crate) mod target_sender;
pub(crate) mod tls;
