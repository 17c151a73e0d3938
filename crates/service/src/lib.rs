//! Sealpost's use cases: activate, log in, send, open, register and manage webhooks. This is what another Rust
//! service embeds; the server binary puts HTTP in front of it.
//!
//! No HTTP, no SQL and no clock in here: a database, a dispatcher, a guard and a clock come in through the ports
//! of `sealpost-domain`. Every method but [`Sealpost::send`] blocks on the database for a short, bounded time, so
//! call it from a thread that may; `send` is async, needs a tokio runtime, and shares its commit with whoever
//! sends at the same time.

mod account;
mod activate;
mod admission;
mod badge;
mod batch;
mod cache;
mod channel;
mod circuits;
mod committer;
mod credentials;
mod error;
mod explanation;
mod figures;
mod hammering;
mod housekeeping;
mod issuer;
mod known;
mod limited;
mod lookups;
mod manage;
mod open;
mod operator;
mod owner;
mod prepare;
mod register;
mod review;
mod sealpost;
mod send;
mod settings;
mod status;
mod unlock;
mod validate;
mod vault;

pub use account::{LoggedIn, Login, Scope, SecretRotated};
pub use activate::{Activate, Activated};
pub use badge::{BadgeShown, BadgeVerdict, BadgeVerified, DryRun, Issue, Issued, IssuedBadge};
pub use circuits::{CircuitsFault, built_in_circuits, parse_circuits};
pub use credentials::{Credentials, KeyNamed};
pub use error::Error;
pub use explanation::{Explanation, Members};
pub use issuer::{DidDocument, Issuer, Refresher};
pub use limited::{Limited, Limits};
pub use manage::{
    Cursor, CursorFault, Deleted, Deliveries, DeliveriesPage, DeliveryState, DeliveryView, Enabled,
    Manage, Managed, Recover, Recovered, Redelivered, Retiring, WebhookSecretRotated, WebhookView,
};
pub use open::Opened;
pub use operator::{
    Agreement, AssessmentShown, Attest, AttestationShown, AuditShown, AuditVerdict, BadgeRevoked,
    DecisionShown, Finding, IssuerKeyShown, IssuerKeyStatus, KeyRevoked, KeyShown, Operator,
    OperatorError, PartnerAssigned, Rewrapped,
};
pub use owner::{Firsts, KeyPage, Owner, SessionView, Waiting, form_token};
pub use register::{Register, Registered};
pub use sealpost::{Parts, Sealpost};
pub use send::{Send, Sent};
pub use settings::Settings;
pub use status::{GovernanceView, KeyStanding};
pub use unlock::{UnlockError, unlock};
pub use validate::{Tried, Validate, Validated};

/// A request's body as far as it could be read. Its faults count only once the caller has been admitted, so they
/// travel with the request.
pub type Body<T> = Result<T, sealpost_domain::Refusal>;
