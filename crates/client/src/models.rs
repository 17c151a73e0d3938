//! The bodies of requests and responses. Members and names that a newer service adds are ignored.

mod account;
mod api_token;
mod badge;
mod channel;
mod identity;
mod webhook;

pub(crate) use account::LoggedIn;
pub use account::{AccountClosed, AccountSecrets, ActivityEntry, LoggedOut, Pong};
pub use api_token::{ApiTokenRequest, ApiTokenView, CreatedApiToken};
pub use badge::{
    BadgeDryRun, BadgeRequest, ComplianceCheck, ComplianceReport, IssuedBadge, RefusalReason,
    VerifiedBadge,
};
pub use channel::{
    Encryption, Evidence, ListedEnvelope, Message, MessageResult, Metadata, OpenedEnvelope,
    Receipt, SentEnvelope, SentFilter,
};
pub use identity::{
    Activated, KeyStanding, PolicyChange, PolicyView, Resolved, Usage, WindowUsage,
};
pub use webhook::{
    Delivery, NewWebhook, RecoverRequest, Recovered, Redelivered, Registered, RetiringSecret,
    RotatedWebhookSecret, TestedWebhook, UpdatedWebhook, WebhookChanges, WebhookView,
};
