//! Receives Sealpost's webhook requests: verifies their signatures, explains failures, and forwards valid requests to
//! an application. Depends on no database and no service.

mod check;
mod error;
mod forward;
mod head;
mod hints;
mod keys;
mod listen;
mod visible;

pub use actix_web::http::Uri;
pub use check::{Report, Request, SignatureEntry, check};
pub use error::ReceiverError;
pub use forward::Forwarded;
pub use head::{Head, RepeatedHeader};
pub use keys::{Key, public_keys, secrets};
pub use listen::{Handled, KeySource, Listener, Listening, Observer, Options};
pub use sealpost_webhooks::VerifyingKey;
pub use visible::visible;
