//! The state that all endpoints share: the service, settings, counters and caches.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ipnet::IpNet;
use sealpost_domain::{AccountId, Clock};
use sealpost_service::{Issuer, Sealpost};

use crate::{
    request::BodyMemory, response::StaticContent, settings::ApiSettings, throttle::Throttle,
};

/// The service, the settings and the counters that all endpoints share.
pub struct ApiState {
    /// The service that processes the requests.
    pub sealpost: Arc<Sealpost>,
    /// The clock of the service.
    pub clock: Arc<dyn Clock>,
    /// The public URL of the service, without a trailing slash.
    pub base_url: String,
    /// True if callers can reach the API only over HTTPS.
    pub is_secure: bool,
    /// The time in which a client must send a body.
    pub body_timeout: Duration,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) max_body_bytes: usize,
    pub(crate) body_memory: Arc<BodyMemory>,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) activations: Throttle,
    pub(crate) logins: Throttle,
    /// Limits logouts and login secret rotations per account, because these requests do not count against the limits of
    /// a key's plan.
    pub(crate) account_changes: Throttle<AccountId>,
    /// Limits the test events to webhooks per account.
    pub(crate) webhook_tests: Throttle<AccountId>,
    /// The OpenAPI document, rendered at the first request.
    pub(crate) document: OnceLock<StaticContent>,
}

impl ApiState {
    /// Creates the state of an API that serves `sealpost`.
    pub fn new(
        settings: ApiSettings,
        sealpost: Arc<Sealpost>,
        issuer: Arc<Issuer>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let ApiSettings {
            base_url,
            is_secure,
            max_body_bytes,
            body_memory,
            body_memory_per_account,
            body_timeout,
            trusted_proxies,
            activations_per_minute,
            logins_per_minute,
            account_changes_per_minute,
            webhook_tests_per_minute,
        } = settings;
        Self {
            sealpost,
            clock,
            base_url,
            is_secure,
            body_timeout,
            issuer,
            max_body_bytes,
            body_memory: Arc::new(BodyMemory::new(body_memory, body_memory_per_account)),
            trusted_proxies: trusted_proxies.unwrap_or_default(),
            activations: Throttle::new(activations_per_minute),
            logins: Throttle::new(logins_per_minute),
            account_changes: Throttle::new(account_changes_per_minute),
            webhook_tests: Throttle::new(webhook_tests_per_minute),
            document: OnceLock::new(),
        }
    }

    /// Returns the memory that large bodies use now, in bytes.
    pub fn body_memory_taken(&self) -> usize {
        self.body_memory.taken()
    }
}
