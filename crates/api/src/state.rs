//! The state that all endpoints share: the service, settings, counters and caches.

use std::sync::{Arc, OnceLock};

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
    /// The settings of the API.
    pub settings: ApiSettings,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) body_memory: Arc<BodyMemory>,
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
        let ApiSettings { body_memory, body_memory_per_account, .. } = settings;
        Self {
            sealpost,
            clock,
            issuer,
            body_memory: Arc::new(BodyMemory::new(body_memory, body_memory_per_account)),
            activations: Throttle::new(settings.activations_per_minute),
            logins: Throttle::new(settings.logins_per_minute),
            wrong_secrets: Throttle::new(settings.logins_per_minute),
            secret_slots: Arc::new(Semaphore::new(SLOTS)),
            account_changes: Throttle::new(settings.account_changes_per_minute),
            secret_changes: Throttle::new(settings.account_changes_per_minute),
            endings: Throttle::new(settings.account_changes_per_minute),
            ending_slots: Arc::new(Semaphore::new(SLOTS)),
            webhook_tests: Throttle::new(settings.webhook_tests_per_minute),
            logged_refusals: Throttle::new(1),
            document: OnceLock::new(),
            settings,
        }
    }

    /// Returns the networks of the trusted proxies.
    pub(crate) fn trusted_proxies(&self) -> &[IpNet] {
        self.settings.trusted_proxies.as_deref().unwrap_or_default()
    }

    /// Returns the memory that large bodies use now, in bytes.
    pub fn body_memory_taken(&self) -> usize {
        self.body_memory.taken()
    }
}

/// The number of permits of `secret_slots` and of `ending_slots`. The number is small, so that requests over a limit
/// leave database connections and threads to other requests.
const SLOTS: usize = 2;
