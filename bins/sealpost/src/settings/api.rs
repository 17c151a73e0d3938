//! Command-line settings of the API and the dashboard: request bodies, trusted proxies and rate limits.

use std::net::IpAddr;

use clap::Args;
use ipnet::IpNet;
use sealpost_node::settings::{ApiSettings, WebSettings};

use super::values::{Size, Span, url_text};

/// A parsed list of networks. The word `none` gives an empty list, which differs from an omitted setting.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Networks(Vec<IpNet>);

/// The settings of the API.
#[derive(Args, Clone)]
#[command(next_help_heading = "Requests")]
pub(super) struct ApiArgs {
    /// Networks of proxies whose X-Forwarded-For or Forwarded header is trusted, or `none`; repeatable, or separated by
    /// commas; required with --behind-tls-proxy
    #[arg(
        long = "trusted-proxy",
        env = "SEALPOST_TRUSTED_PROXY",
        value_name = "CIDR",
        value_parser = networks,
        help_heading = "HTTP"
    )]
    trusted_proxies: Vec<Networks>,
    /// Activations per minute and client address; 0 turns the limit off
    #[arg(
        long,
        env = "SEALPOST_ACTIVATIONS_PER_MINUTE",
        default_value_t = ApiSettings::default().activations_per_minute,
        value_name = "N"
    )]
    activations_per_minute: u32,
    /// Wrong login secrets, recovery codes and invites per minute and client address. Also logins per minute, client
    /// address and account. 0 turns both limits off
    #[arg(
        long,
        env = "SEALPOST_LOGINS_PER_MINUTE",
        default_value_t = ApiSettings::default().logins_per_minute,
        value_name = "N"
    )]
    logins_per_minute: u32,
    /// Requests about the account and its API tokens, per minute and session; four times as many per account. The same
    /// number limits replacements of the login secret, per minute and account, and requests that end sessions, tokens
    /// or keys, per minute and session. 0 turns the limits off
    #[arg(
        long,
        env = "SEALPOST_ACCOUNT_CHANGES_PER_MINUTE",
        default_value_t = ApiSettings::default().account_changes_per_minute,
        value_name = "N"
    )]
    account_changes_per_minute: u32,
    /// Test events of webhooks per minute and account; 0 turns the limit off
    #[arg(
        long,
        env = "SEALPOST_WEBHOOK_TESTS_PER_MINUTE",
        default_value_t = ApiSettings::default().webhook_tests_per_minute,
        value_name = "N"
    )]
    webhook_tests_per_minute: u32,
    /// Largest body of a request
    #[arg(
        long,
        env = "SEALPOST_MAX_BODY_BYTES",
        default_value_t = Size(ApiSettings::default().max_body_bytes),
        value_name = "SIZE"
    )]
    max_body_bytes: Size<usize>,
    /// Memory for all request bodies over 16 KiB that have no response yet; further large bodies get 503. At least
    /// --max-body-bytes
    #[arg(
        long,
        env = "SEALPOST_BODY_MEMORY",
        default_value_t = Size(ApiSettings::default().body_memory),
        value_name = "SIZE"
    )]
    body_memory: Size<usize>,
    /// Part of the body memory that one account can use; at least --max-body-bytes
    #[arg(
        long,
        env = "SEALPOST_BODY_MEMORY_PER_ACCOUNT",
        default_value_t = Size(ApiSettings::default().body_memory_per_account),
        value_name = "SIZE"
    )]
    body_memory_per_account: Size<usize>,
    /// Time in which a client must send a body
    #[arg(
        long,
        env = "SEALPOST_BODY_TIMEOUT",
        default_value_t = Span(ApiSettings::default().body_timeout),
        value_name = "SPAN"
    )]
    body_timeout: Span,
}

/// The settings of the dashboard.
#[derive(Args, Clone)]
#[command(next_help_heading = "Dashboard")]
pub(super) struct WebArgs {
    /// Dashboard pages per minute and session, four times as many per account; a form counts as four pages; 0 turns the
    /// limit off
    #[arg(
        long,
        env = "SEALPOST_DASHBOARD_PER_MINUTE",
        default_value_t = WebSettings::default().dashboard_per_minute,
        value_name = "N"
    )]
    dashboard_per_minute: u32,
    /// Contact for larger limits: an https or mailto URL, shown on the dashboard when a limit is nearly used, and named
    /// in the error when the monthly allowance is used up
    #[arg(
        long,
        env = "SEALPOST_SALES_CONTACT",
        value_name = "URL",
        value_parser = contact
    )]
    pub(super) sales_contact: Option<String>,
    /// Largest number of event logs that one account follows live on this node; a further log ends the oldest; 0 turns
    /// live logs off
    #[arg(
        long,
        env = "SEALPOST_LIVE_LOGS_PER_ACCOUNT",
        default_value_t = WebSettings::default().live_logs_per_account,
        value_name = "N"
    )]
    live_logs_per_account: usize,
    /// Largest number of event logs that all accounts together follow live on this node; 0 turns live logs off
    #[arg(
        long,
        env = "SEALPOST_LIVE_LOGS",
        default_value_t = WebSettings::default().live_logs,
        value_name = "N"
    )]
    live_logs: usize,
}

/// Checks that the contact is an https or mailto URL, and returns the URL.
fn contact(text: &str) -> Result<String, String> {
    let url = url_text(text)?;
    if ["https://", "mailto:"].iter().any(|scheme| url.starts_with(scheme)) {
        return Ok(url);
    }
    Err("give an https or mailto URL, such as mailto:sales@example.org".to_owned())
}

/// Parses networks separated by commas. The word `none` means an empty list.
fn networks(text: &str) -> Result<Networks, String> {
    if text.trim().eq_ignore_ascii_case("none") {
        return Ok(Networks(Vec::new()));
    }
    let networks = text.split(',').map(network).collect::<Result<_, _>>();
    networks.map(Networks).map_err(|advice| advice + ", or none")
}

/// Parses a network. A single address becomes a network of one address.
pub(super) fn network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    let address = || text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
    let network = text.parse().or_else(|_no_network| address());
    network.map_err(|_no_address| "give a network, such as 10.0.0.0/8, or an address".to_owned())
}

impl From<&ApiArgs> for ApiSettings {
    fn from(args: &ApiArgs) -> Self {
        let ApiArgs {
            trusted_proxies,
            activations_per_minute,
            logins_per_minute,
            account_changes_per_minute,
            webhook_tests_per_minute,
            max_body_bytes,
            body_memory,
            body_memory_per_account,
            body_timeout,
        } = args;
        // Keeps the defaults of these two fields, because the node sets them from its addresses and TLS settings.
        let Self { base_url, is_secure, .. } = Self::default();
        // Joins the lists of the repeated flag. An omitted flag differs from an empty list.
        let networks = || trusted_proxies.iter().flat_map(|Networks(networks)| networks.clone());
        Self {
            base_url,
            is_secure,
            max_body_bytes: max_body_bytes.0,
            body_memory: body_memory.0,
            body_memory_per_account: body_memory_per_account.0,
            body_timeout: body_timeout.0,
            trusted_proxies: (!trusted_proxies.is_empty()).then(|| networks().collect()),
            activations_per_minute: *activations_per_minute,
            logins_per_minute: *logins_per_minute,
            account_changes_per_minute: *account_changes_per_minute,
            webhook_tests_per_minute: *webhook_tests_per_minute,
        }
    }
}

impl From<&WebArgs> for WebSettings {
    fn from(args: &WebArgs) -> Self {
        let WebArgs {
            dashboard_per_minute,
            // Belongs to the settings of the service.
            sales_contact: _,
            live_logs_per_account,
            live_logs,
        } = args;
        Self {
            dashboard_per_minute: *dashboard_per_minute,
            live_logs_per_account: *live_logs_per_account,
            live_logs: *live_logs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_network_is_written_in_upper_and_lower_case() {
        for word in ["none", "NONE", " None"] {
            assert_eq!(networks(word), Ok(Networks(Vec::new())));
        }
        assert!(networks("none,10.0.0.5").unwrap_err().ends_with("or none"));
        assert!(!network("none").unwrap_err().contains("none"));
    }
}
