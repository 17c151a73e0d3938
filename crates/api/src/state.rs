//! The state that all endpoints share: the service, settings, counters and caches.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ipnet::IpNet;
use sealpost_domain::{AccountId, Clock, TokenHash};
use sealpost_service::{Issuer, Sealpost};
use tokio::sync::Semaphore;

use crate::{
    request::BodyMemory,
    response::StaticContent,
    settings::ApiSettings,
    throttle::{SessionOrAccount, Throttle},
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
    /// Limits logins with the right secret, per account and network of the client. The network is an IPv4 address, or
    /// an IPv6 /64, /56 or /48.
    pub(crate) logins: Throttle<(IpNet, AccountId)>,
    /// Limits wrong login secrets, recovery codes and invites, per network of the client.
    pub(crate) wrong_secrets: Throttle,
    /// Bounds the concurrent verifications of secrets for clients that have reached the limit of wrong secrets.
    pub(crate) secret_slots: Arc<Semaphore>,
    /// Limits requests about an account that do not end sessions, tokens or keys. These requests do not count against
    /// the limits of a key's plan.
    pub(crate) account_changes: Throttle<SessionOrAccount>,
    /// Limits replacements of the login secret, which need the right secret or recovery code.
    pub(crate) secret_changes: Throttle<AccountId>,
    /// Limits requests that end sessions, tokens or keys, per session. A request over the limit waits for a permit of
    /// `ending_slots`.
    pub(crate) endings: Throttle<TokenHash>,
    /// Bounds the concurrent requests that are over the limit of `endings`.
    pub(crate) ending_slots: Arc<Semaphore>,
    /// Limits the test events to webhooks per account.
    pub(crate) webhook_tests: Throttle<AccountId>,
    /// Limits the log lines about refused client addresses to one per minute and address.
    pub(crate) logged_refusals: Throttle,
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
            wrong_secrets: Throttle::new(logins_per_minute),
            secret_slots: Arc::new(Semaphore::new(SLOTS)),
            account_changes: Throttle::new(account_changes_per_minute),
            secret_changes: Throttle::new(account_changes_per_minute),
            endings: Throttle::new(account_changes_per_minute),
            ending_slots: Arc::new(Semaphore::new(SLOTS)),
            webhook_tests: Throttle::new(webhook_tests_per_minute),
            logged_refusals: Throttle::new(1),
            document: OnceLock::new(),
        }
    }

    /// Returns the memory that large bodies use now, in bytes.
    pub fn body_memory_taken(&self) -> usize {
        self.body_memory.taken()
    }
}

/// The number of permits of `secret_slots` and of `ending_slots`. The number is small, so that a flood of requests over
/// a limit leaves database connections and threads to other requests.
const SLOTS: usize = 2;
