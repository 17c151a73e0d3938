//! Asynchronous client of the Sealpost API. The clients in all languages behave alike: see `clients/README.md`.
//!
//! ```no_run
//! use sealpost_client::{Client, Login};
//!
//! # async fn example(login: Login, api_key: sealpost_client::ApiKeyId) -> Result<(), sealpost_client::ClientError> {
//! let client = Client::builder("https://sealpost.example").login(login).api_key(api_key).build()?;
//! let sent = client.send("bob", "Hello Bob").await?;
//! println!("{}", client.receipt(sent.envelope_id).await?.envelope_id);
//! # Ok(())
//! # }
//! ```
//!
//! The features `axum` and `actix` receive webhook requests in a web application, and open their envelopes. The feature
//! `relay`, on by default, receives events over a connection to the service, without a public address: see
//! [`Client::relay`]. To verify webhook requests without a client, use the crate `sealpost-receiver`.

mod builder;
mod client;
mod error;
mod operations;
mod pages;
#[cfg(feature = "receiver")]
mod receiving;
#[cfg(feature = "relay")]
mod relay;
mod request;
mod retry;
mod transport;

pub use builder::ClientBuilder;
pub use client::{Client, Pong};
pub use error::{ClientError, HandlerError, ProblemDocument};
pub use operations::*;
pub use pages::Pages;
#[cfg(feature = "actix")]
pub use receiving::actix;
#[cfg(feature = "axum")]
pub use receiving::axum;
#[cfg(feature = "receiver")]
pub use receiving::{ReceivedEvent, Receiver, SeenEvents};
#[cfg(feature = "relay")]
pub use relay::{Relay, RelayConnection, RelayResponse, RelayState, RelayedRequest};
pub use request::Login;
pub use retry::RetryPolicy;
pub use sealpost_domain::{
    AcceptPolicy, AccountId, ApiKeyId, ApiTokenId, BadgeId, Code, EnvelopeId, EventId, EventKind,
    IdempotencyKey, KeyStatus, ReceiptPolicy, ReceiptState, Timestamp, TokenScope, WebhookId,
    WebhookStatus,
};
#[cfg(feature = "receiver")]
pub use sealpost_receiver::{HeaderList, ReceiverKey, public_keys, secrets};
