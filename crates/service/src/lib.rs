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
mod batch;
mod committer;
mod credentials;
mod error;
mod figures;
mod hammering;
mod housekeeping;
mod known;
mod limited;
mod open;
mod operator;
mod sealpost;
mod send;
mod settings;
mod status;
mod unlock;
mod webhook;

pub use account::{LoggedIn, Login, Scope, SecretRotated};
pub use activate::{Activate, Activated};
pub use credentials::{Credentials, KeyNamed};
pub use error::Error;
pub use limited::{Limited, Limits};
pub use open::Opened;
pub use operator::{
    AuditShown, AuditVerdict, DecisionShown, KeyRevoked, KeyShown, Operator, OperatorError,
    PartnerAssigned, Rewrapped,
};
pub use sealpost::{Parts, Sealpost};
pub use send::{Send, Sent};
pub use settings::Settings;
pub use status::{GovernanceView, KeyStanding};
pub use unlock::{UnlockError, unlock};
pub use webhook::{Deleted, Manage, Managed, Register, Registered, RegistrationView};

/// A request's body as far as it could be read. Its faults count only once the caller has been admitted, so they
/// travel with the request.
pub type Body<T> = Result<T, sealpost_domain::Refusal>;
