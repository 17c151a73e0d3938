//! Sends webhook requests over HTTP/1.1 and reads the responses.
//!
//! [`client`] makes one request. [`target_sender`] holds the client and the signing keys of one target.
//! [`sender_cache`] bounds the number of open connections. [`connector`] opens the connections. [`response_framing`]
//! parses the received bytes, and [`response`] reads the responses.

pub(crate) mod client;
mod connector;
pub(crate) mod response;
mod response_framing;
pub(crate) mod response_stream;
pub(crate) mod sender_cache;
pub(crate) mod target_sender;
pub(crate) mod tls;
