//! The bodies of requests and responses. Members and names that a newer service adds are ignored.

mod account;
mod api_token;
mod channel;
mod identity;
mod webhook;

pub(crate) use account::LoggedIn;
pub use account::{AccountClosed, ActivityEntry, LoggedOut, Pong, RotatedLoginSecret};
pub use api_token::{ApiTokenView, CreatedApiToken};
pub use channel::{Encryption, Metadata, OpenedEnvelope, Receipt, SentEnvelope};
pub use identity::{
    Activated, KeyStanding, PolicyChange, PolicyView, Resolved, Usage, WindowUsage,
};
pub use webhook::{
    Delivery, Recovered, Redelivered, Registered, RetiringSecret, RotatedWebhookSecret,
    TestedWebhook, WebhookView,
};
