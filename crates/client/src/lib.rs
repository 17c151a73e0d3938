//! Asynchronous client of the Sealpost API. All clients behave alike: see `clients/README.md`.
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
//! `relay`, which is on by default, receives them without a public address: see [`Client::relay`]. The crate
//! `sealpost-receiver` only verifies webhook requests.

mod account;
mod badges;
mod builder;
mod client;
mod error;
mod models;
mod pages;
#[cfg(feature = "receiver")]
mod receiving;
#[cfg(feature = "relay")]
mod relay;
mod request;
mod retry;
mod sending;
mod transport;
mod webhooks;

pub use account::Account;
pub use builder::ClientBuilder;
pub use client::Client;
pub use error::{ClientError, HandlerError, ProblemDocument};
pub use models::{
    AccountClosed, AccountSecrets, Activated, ActivityEntry, ApiTokenRequest, ApiTokenView,
    BadgeDryRun, BadgeRequest, ComplianceCheck, ComplianceReport, CreatedApiToken, Delivery,
    Encryption, Evidence, IssuedBadge, KeyStanding, ListedEnvelope, LoggedOut, Message,
    MessageResult, Metadata, NewWebhook, OpenedEnvelope, PolicyChange, PolicyView, Pong, Receipt,
    RecoverRequest, Recovered, Redelivered, RefusalReason, Registered, Resolved, RetiringSecret,
    RotatedWebhookSecret, SentEnvelope, SentFilter, TestedWebhook, UpdatedWebhook, Usage,
    VerifiedBadge, WebhookChanges, WebhookView, WindowUsage,
};
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
pub use webhooks::Webhooks;
