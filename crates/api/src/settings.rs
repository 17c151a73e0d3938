//! The settings of the API: addresses, sizes, timeouts and rate limits.

use std::time::Duration;

use ipnet::IpNet;

/// The settings of the HTTP API: its URL, the limits of requests, and the networks of trusted proxies.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// The URL that callers use, without a trailing slash.
    pub base_url: String,
    /// True if callers can reach the API only over HTTPS.
    pub is_secure: bool,
    /// The maximum size of a request body in bytes.
    pub max_body_bytes: usize,
    /// The maximum memory of all large bodies together, in bytes. A body is large if it exceeds 16 KiB.
    pub body_memory: usize,
    /// The maximum memory of the large bodies of one account, in bytes. It is a part of `body_memory`.
    pub body_memory_per_account: usize,
    /// The time in which a client must send a body.
    pub body_timeout: Duration,
    /// The networks of proxies whose `X-Forwarded-For` or `Forwarded` header is trusted. `None` has the effect of an
    /// empty list, but a server behind a TLS proxy does not start with `None`.
    pub trusted_proxies: Option<Vec<IpNet>>,
    /// The maximum number of activations per minute and client address. 0 turns the limit off.
    pub activations_per_minute: u32,
    /// The maximum number of logins per minute and client address. 0 turns the limit off.
    pub logins_per_minute: u32,
    /// The maximum number of logouts and login secret rotations per minute and account. 0 turns the limit off.
    pub account_changes_per_minute: u32,
    /// The maximum number of test events per minute and account. 0 turns the limit off.
    pub webhook_tests_per_minute: u32,
}

impl Default for ApiSettings {
    fn default() -> Self {
        Self {
            base_url: "http://127.0.0.1:8080".to_owned(),
            is_secure: false,
            max_body_bytes: 2_097_152,
            body_memory: 67_108_864,
            body_memory_per_account: 8_388_608,
            body_timeout: Duration::from_secs(10),
            trusted_proxies: None,
            activations_per_minute: 20,
            logins_per_minute: 60,
            account_changes_per_minute: 60,
            webhook_tests_per_minute: 10,
        }
    }
}
