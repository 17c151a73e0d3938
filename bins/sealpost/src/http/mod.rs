//! The API over HTTP: one table of routes, extractors that yield the caller, one place that maps refusals.

mod access;
mod body;
mod body_memory;
mod caller;
mod client_address;
mod envelope;
mod fields;
mod forwarded;
pub(crate) mod handlers;
mod head;
mod idempotency;
mod problem;
mod rate_limit;
mod routes;
mod status;
pub(crate) mod throttle;

use std::{sync::Arc, time::Duration};

pub(crate) use body_memory::BodyMemory;
pub(crate) use envelope::envelope;
pub(crate) use problem::{Document, Problem, whole_seconds};
pub(crate) use routes::{endpoints, refuse_method, routes};
pub(crate) use status::row;
pub(crate) use throttle::Throttle;

use ipnet::IpNet;
use sealpost_domain::AccountId;
use sealpost_service::{Issuer, Sealpost};

use crate::docs::Docs;

/// What every handler can reach.
pub(crate) struct App {
    pub(crate) sealpost: Arc<Sealpost>,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) clock: Arc<dyn sealpost_domain::Clock>,
    pub(crate) base_url: String,
    /// Whether callers reach it by HTTPS alone.
    pub(crate) is_secure: bool,
    pub(crate) max_body_bytes: usize,
    pub(crate) body_memory: Arc<BodyMemory>,
    pub(crate) body_timeout: Duration,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) activations: Throttle,
    pub(crate) logins: Throttle,
    /// Of whoever has a session, by account: what no plan counts.
    pub(crate) account_changes: Throttle<AccountId>,
    /// Of whoever is signed in, by account.
    pub(crate) dashboard: Throttle<AccountId>,
    pub(crate) docs: Docs,
}
