//! The state that all endpoints share.

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

/// The use cases, the settings and the counters that all endpoints share.
pub struct ApiState {
    /// The use cases.
    pub sealpost: Arc<Sealpost>,
    /// The clock of the service.
    pub clock: Arc<dyn Clock>,
    /// The public address of the service, without a slash at its end.
    pub base_url: String,
    /// Whether all clients use HTTPS.
    pub is_secure: bool,
    /// The maximum time to receive a body.
    pub body_timeout: Duration,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) max_body_bytes: usize,
    pub(crate) body_memory: Arc<BodyMemory>,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) activations: Throttle,
    pub(crate) logins: Throttle,
    /// Limits logouts and login secret rotations per account. The plan of an account does not count these requests.
    pub(crate) account_changes: Throttle<AccountId>,
    /// Limits the test events of webhooks per account.
    pub(crate) webhook_tests: Throttle<AccountId>,
    /// The OpenAPI document, rendered at the first request.
    pub(crate) document: OnceLock<StaticContent>,
}

impl ApiState {
    /// Creates the state of an API over these use cases.
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
