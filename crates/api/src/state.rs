//! The state that all endpoints share.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ipnet::IpNet;
use sealpost_domain::{AccountId, Clock};
use sealpost_service::{Issuer, Sealpost};

use crate::{request::BodyMemory, response::StaticContent, throttle::Throttle};

/// The settings of the API.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// The public address of the service, without a slash at its end.
    pub base_url: String,
    /// Whether all clients use HTTPS. If so, each response forbids plain HTTP for a year (`Strict-Transport-Security`).
    pub is_secure: bool,
    /// The maximum size of one body, in bytes.
    pub max_body_bytes: usize,
    /// The maximum memory for all large bodies together, in bytes.
    pub body_memory: usize,
    /// The maximum time to receive a body.
    pub body_timeout: Duration,
    /// Networks of trusted proxies. Their `X-Forwarded-For` and `Forwarded` headers give the client address.
    pub trusted_proxies: Vec<IpNet>,
    /// Activations per minute and client address; 0 turns the limit off.
    pub activations_per_minute: u32,
    /// Logins per minute and client address; 0 turns the limit off.
    pub logins_per_minute: u32,
    /// Logouts and new login secrets per minute and account; 0 turns the limit off.
    pub account_changes_per_minute: u32,
}

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
    /// Limits requests that no plan counts.
    pub(crate) account_changes: Throttle<AccountId>,
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
        Self {
            sealpost,
            clock,
            base_url: settings.base_url,
            is_secure: settings.is_secure,
            body_timeout: settings.body_timeout,
            issuer,
            max_body_bytes: settings.max_body_bytes,
            body_memory: Arc::new(BodyMemory::new(settings.body_memory)),
            trusted_proxies: settings.trusted_proxies,
            activations: Throttle::new(settings.activations_per_minute),
            logins: Throttle::new(settings.logins_per_minute),
            account_changes: Throttle::new(settings.account_changes_per_minute),
            document: OnceLock::new(),
        }
    }

    /// Returns the memory that large bodies use now, in bytes.
    pub fn body_memory_taken(&self) -> usize {
        self.body_memory.taken()
    }
}
