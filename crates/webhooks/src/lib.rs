//! Delivers events to webhooks: signed HTTP requests with retries.
//!
//! - [`sign`] and [`verify`]: symmetric Standard Webhooks signatures, for senders and for receivers in Rust.
//! - [`sign_asymmetric`] and [`verify_asymmetric`]: asymmetric signatures with the key of the service. [`VerifyingKey`]
//!   is its public key.
//! - [`RetrySchedule`]: the pauses between attempts.
//! - [`AddressPolicy`] and [`AddressGuard`]: the allowed URLs and addresses. Only public addresses are allowed, both at
//!   registration and at every connection.
//! - [`ResponseStream`]: a connection of the HTTP client awc that returns only final responses.
//! - [`Dispatcher`]: accepts deliveries from the send path, claims due ones from the database, sends them and records
//!   their outcomes.
//!
//! Delivery is at least once: a receiver can get the same event several times. A delivery is a database row until its
//! outcome is recorded. Only the node with the lease of a delivery may attempt it. If a node loses a delivery from
//! memory, the delivery is due again at the end of its lease. A shutdown therefore need not save any state.
//!
//! The dispatcher depends on the port [`Outbox`](sealpost_domain::ports::Outbox) and on no database. All deliveries to
//! a target use the same worker. The threads of the dispatcher are:
//!
//! - the delivery workers
//! - a sweeper, which claims (leases) due deliveries
//! - a claimer of deliveries to relays: webhooks whose receivers connect to the service
//! - a refresher, which reads the targets of queued deliveries again
//! - a writer of outcomes
//! - a sender of test events
//!
//! | word | meaning |
//! |---|---|
//! | event | a fact for a webhook, for example a received envelope |
//! | delivery | one event for one webhook |
//! | attempt | one HTTP request of a delivery |
//! | target | the URL and the signing secrets of a webhook |
//!
//! `examples/receive.rs` verifies a request as a receiver does.

mod address_guard;
mod circuit_breaker;
mod dispatcher;
mod http;
mod local_error;
mod queue;
mod relay;
mod retry;
mod settings;
mod signing;

#[cfg(test)]
mod tests;

pub use self::{
    address_guard::{AddressGuard, AddressPolicy},
    dispatcher::{DispatchError, Dispatcher, Stats},
    http::{
        response_stream::ResponseStream,
        tls::{RootsError, read_roots},
    },
    retry::schedule::{RetrySchedule, ScheduleError},
    settings::Settings,
    signing::{
        asymmetric::{sign_asymmetric, verify_asymmetric},
        did_document::{NoVerifyingKey, verifying_keys},
        symmetric::{sign, verify},
        verification::{SignedHeaders, VerifyError, signed_content},
        verifying_key::{VerifyingKey, VerifyingKeyError},
    },
};
