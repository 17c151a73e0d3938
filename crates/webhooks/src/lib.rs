//! Signed notices: what tells a recipient that an envelope waits for it.
//!
//! - [`sign`] and [`verify`]: Standard Webhooks signatures, for the sender and for receivers in Rust.
//! - [`entry_v1a`] and [`verify_asymmetric`]: the same by the service's own key, whose public half is a [`VerifyingKey`].
//! - [`RetrySchedule`]: when a failed attempt is tried again.
//! - [`AddressPolicy`] and [`Guard`]: where notices may go. Only to public addresses, whatever a URL says or a name
//!   resolves to, when it is registered and at every connection.
//! - [`Dispatcher`]: takes deliveries that are stored and leased, from the send path and from the database, sends
//!   them, and writes the outcomes down.
//!
//! Delivery is at least once. A delivery is a row until its outcome is written, and whoever holds its lease may attempt
//! it; so whatever is lost in memory here comes back when the lease ends, and nothing needs to be saved on the way down.
//!
//! The dispatcher knows no database, only [`Outbox`](sealpost_domain::ports::Outbox). It runs one thread per core that
//! sends (a target always on the same one), one that claims and one that settles.
//!
//! `examples/receive.rs` verifies a notice as a receiver would.

mod answer;
mod asleep;
mod asymmetric;
mod channel;
mod client;
mod connector;
mod did_document;
mod dispatcher;
mod figures;
mod guard;
mod lane;
mod lanes;
mod names;
mod notice;
mod outage;
mod postponed;
mod pulse;
mod retry;
mod roots;
mod schedule;
mod settings;
mod settler;
mod shared;
mod signature;
mod stats;
mod sweeper;
mod targets;
mod turns;

#[cfg(test)]
mod tests;

pub use asymmetric::{VerifyingKey, VerifyingKeyFault, entry_v1a, verify_asymmetric};
pub use did_document::{NoVerifyingKey, verifying_keys};
pub use dispatcher::{DispatchError, Dispatcher};
pub use guard::{AddressPolicy, Guard};
pub use roots::{RootsFault, read_roots};
pub use schedule::{RetrySchedule, ScheduleFault};
pub use settings::Settings;
pub use signature::{SignedHeaders, VerifyFault, sign, signed_content, verify};
pub use stats::Stats;
