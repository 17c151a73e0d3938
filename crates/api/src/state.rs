//! The state that the endpoints share.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ipnet::IpNet;
use sealpost_domain::{AccountId, Clock};
use sealpost_service::{Issuer, Sealpost};

use crate::{
    http::{BodyMemory, Throttle},
    openapi::openapi,
    stored::Stored,
};

/// The bounds of the API.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// The address that callers know, without a slash at its end.
    pub base_url: String,
    /// Whether callers reach it by HTTPS alone.
    pub is_secure: bool,
    /// Bytes of one body at most.
    pub max_body_bytes: usize,
    /// Bytes that all large bodies may take together.
    pub body_memory: usize,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// Networks of proxies whose `X-Forwarded-For` or `Forwarded` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Activations per minute and client address; 0 turns the limit off.
    pub activations_per_minute: u32,
    /// Logins per minute and client address; 0 turns the limit off.
    pub logins_per_minute: u32,
    /// Changes of sessions and login secret per minute and account; 0 turns the limit off.
    pub account_changes_per_minute: u32,
}

/// What every handler can reach.
pub struct ApiState {
    /// The use cases.
    pub sealpost: Arc<Sealpost>,
    /// The clock of the service.
    pub clock: Arc<dyn Clock>,
    /// The address that callers know, without a slash at its end.
    pub base_url: String,
    /// Whether callers reach it by HTTPS alone.
    pub is_secure: bool,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) max_body_bytes: usize,
    pub(crate) body_memory: Arc<BodyMemory>,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) activations: Throttle,
    pub(crate) logins: Throttle,
    /// Of whoever has a session, by account: what no plan counts.
    pub(crate) account_changes: Throttle<AccountId>,
    document: OnceLock<Stored>,
}

impl ApiState {
    /// The state of an API over these use cases.
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

    /// Bytes that large bodies take now.
    pub fn body_memory_taken(&self) -> usize {
        self.body_memory.taken()
    }

    /// The OpenAPI document, made at the first request for it.
    pub(crate) fn document(&self) -> &Stored {
        self.document.get_or_init(|| Stored::json(openapi(&self.base_url).to_string()))
    }
}
