//! Receives the webhook requests of Sealpost in a Rust application.
//!
//! | task | function |
//! |---|---|
//! | verify one request inside your own HTTP server | [`verify`] |
//! | find out why a request cannot be verified | [`explain`] |
//! | run an HTTP server that verifies requests, reports them and forwards the valid ones | [`Listener`] |
//! | do the same with requests that arrive over a relay (a WebSocket to the service) | [`RequestHandler`] |
//!
//! The crate needs no database and no service. `sealpost verify` and `sealpost listen` are its command line, and
//! `examples/receive_requests.rs` is a receiver to copy.
//!
//! # The request
//! A service sends `POST` with a JSON body of less than 20,000 bytes and these headers (Standard Webhooks 1.0.0):
//!
//! | header | content |
//! |---|---|
//! | `webhook-id` | the id of the event, equal in all attempts; use it to ignore duplicates |
//! | `webhook-timestamp` | the time of the attempt in Unix seconds |
//! | `webhook-signature` | a list of signatures, separated by spaces: `v1,{base64} v1a,{base64}` |
//!
//! A signature covers the bytes `{webhook-id}.{webhook-timestamp}.{body}`. Verify the body as it was received: JSON
//! that was parsed and written again has other bytes.
//!
//! | version | algorithm | key |
//! |---|---|---|
//! | `v1` | HMAC-SHA256 (RFC 2104) | [`ReceiverKey::Secret`]: `whsec_` and the base64 of 24 to 64 bytes |
//! | `v1a` | Ed25519 (RFC 8032) | [`ReceiverKey::Public`]: `whpk_` and the base64 of 32 bytes |
//!
//! One matching signature is sufficient. While a secret is rotated, the service signs with both secrets. The timestamp
//! must be within 300 s of the receiver's clock.
//!
//! # The response
//! | response | reaction of the service |
//! |---|---|
//! | 2xx within 15 s | the delivery succeeded |
//! | 410 | the service disables the webhook |
//! | any other status, or none | the delivery is tried again |
//!
//! With 429 and 503, `Retry-After` can extend the pause before the next attempt. The limit is twice the scheduled pause
//! or one hour, whichever is longer, but at most 24 h.
//!
//! # Example
//! The secret, the headers and the body are those of a real request:
//!
//! ```
//! use sealpost_receiver::{HeaderList, ReceivedRequest, Timestamp, VerificationError, secrets, verify};
//!
//! let keys = secrets("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "the example")?;
//! let headers = HeaderList::from_iter([
//!     ("webhook-id", "env_01h455vb4pex5vsknk084sn02q"),
//!     ("webhook-timestamp", "1767225600"),
//!     ("webhook-signature", "v1,bsAk2MbcohRD4s3FRZJ4cd+Wajiy8Gsvt8kGkNZxpyA="),
//! ]);
//! let request = ReceivedRequest { headers: &headers, body: br#"{"event":"envelope.received"}"# };
//! let now = Timestamp::from_millis(1_767_225_601_000);
//! assert_eq!(verify(request, &keys, now), Ok(()));
//!
//! let altered = ReceivedRequest { body: b"{}", ..request };
//! let fault = verify(altered, &keys, now).unwrap_err();
//! assert!(matches!(fault, VerificationError::NoMatch { .. }));
//! # Ok::<(), sealpost_receiver::ReceiverError>(())
//! ```

mod clock;
mod error;
mod escape;
mod keys;
mod request;
mod server;
mod text;
mod verification;

pub use actix_web::http::Uri;
pub use clock::SystemClock;
pub use error::ReceiverError;
pub use escape::{escape_control, escape_json};
pub use keys::{ReceiverKey, public_keys, secrets};
pub use request::{HeaderList, ReceivedRequest, RepeatedHeader};
pub use sealpost_domain::{Clock, Timestamp};
pub use sealpost_webhooks::VerifyingKey;
pub use server::{
    ForwardError, ForwardedResponse, HandledRequest, HandledResponse, KeySource, KeySourceError,
    Listener, ListenerOptions, RequestHandler, RequestObserver, RunningListener,
};
pub use verification::{SignatureEntry, VerificationError, VerificationReport, explain, verify};
