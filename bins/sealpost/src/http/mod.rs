//! The API over HTTP: one table of routes, extractors that yield the caller, one place that maps refusals.

mod body;
mod caller;
mod client_address;
mod envelope;
mod fields;
mod forwarded;
mod handlers;
mod idempotency;
mod problem;
mod rate_limit;
mod routes;
mod status;
pub(crate) mod throttle;

use std::{sync::Arc, time::Duration};

pub(crate) use envelope::envelope;
pub(crate) use problem::Problem;
pub(crate) use routes::routes;
pub(crate) use throttle::Throttle;

use ipnet::IpNet;
use sealpost_service::Sealpost;

/// What every handler can reach.
pub(crate) struct App {
    pub(crate) sealpost: Arc<Sealpost>,
    pub(crate) clock: Arc<dyn sealpost_domain::Clock>,
    pub(crate) base_url: String,
    pub(crate) max_body_bytes: usize,
    pub(crate) body_timeout: Duration,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) activations: Throttle,
    pub(crate) logins: Throttle,
}
