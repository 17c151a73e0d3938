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
    /// The maximum memory in bytes of all large bodies together. A body over 16 KiB is large.
    pub body_memory: usize,
    /// The maximum memory in bytes of the large bodies of one account. This memory also counts towards `body_memory`.
    pub body_memory_per_account: usize,
    /// The time in which a client must send a body.
    pub body_timeout: Duration,
    /// The networks of proxies whose `X-Forwarded-For` or `Forwarded` header is trusted. `None` trusts no proxy, like
    /// an empty list. A server behind a TLS proxy refuses to start with `None`, but accepts an empty list.
    pub trusted_proxies: Option<Vec<IpNet>>,
    /// The maximum number of activations (creations of API keys) per minute and client address. 0 turns the limit off.
    pub activations_per_minute: u32,
    /// The maximum number of wrong login secrets, recovery codes and invites per minute and client address. Also the
    /// maximum number of logins per minute, client address and account. 0 turns both limits off.
    pub logins_per_minute: u32,
    /// Sets four limits per minute. 0 turns them off.
    ///
    /// - Requests about an account, per session: exports, lists of activity, and lists and creations of API tokens.
    /// - The same requests of all sessions of an account together: four times this number.
    /// - Rotations of the login secret and recoveries, per account.
    /// - Requests that end sessions, tokens or keys, per session. A request over this limit waits, and is not refused.
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
