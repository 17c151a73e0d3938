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
//! The crate `sealpost-receiver` verifies webhook requests.

mod account;
mod builder;
mod client;
mod credentials;
mod error;
mod models;
mod pages;
mod request;
mod retry;
mod session;
mod transport;
mod webhooks;

pub use account::Account;
pub use builder::ClientBuilder;
pub use client::Client;
pub use credentials::Login;
pub use error::{ClientError, ProblemDocument};
pub use models::{
    AccountClosed, Activated, ActivityEntry, ApiTokenView, CreatedApiToken, Delivery, Encryption,
    KeyStanding, LoggedOut, Metadata, OpenedEnvelope, PolicyChange, PolicyView, Pong, Receipt,
    Recovered, Redelivered, Registered, Resolved, RetiringSecret, RotatedLoginSecret,
    RotatedWebhookSecret, SentEnvelope, TestedWebhook, Usage, WebhookView, WindowUsage,
};
pub use pages::Pages;
pub use retry::RetryPolicy;
pub use sealpost_domain::{
    AcceptPolicy, AccountId, ApiKeyId, ApiTokenId, Code, EnvelopeId, EventKind, KeyStatus,
    ReceiptPolicy, ReceiptState, Timestamp, TokenScope, WebhookId, WebhookStatus,
};
pub use webhooks::Webhooks;
