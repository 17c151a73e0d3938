//! Settings of the server.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, ValueEnum, builder::BoolishValueParser};
use ipnet::IpNet;
use sealpost_domain::Suite;

use super::{DatabaseArgs, bytes, channel::ChannelArgs, positive, webhook::WebhookArgs};

/// Every setting of the server.
#[derive(Args, Clone)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) http: HttpArgs,
    #[command(flatten)]
    pub(crate) service: ServiceArgs,
    #[command(flatten)]
    pub(crate) channel: ChannelArgs,
    #[command(flatten)]
    pub(crate) webhooks: WebhookArgs,
    /// Migrate a `PostgreSQL` database that is behind (the embedded one is migrated anyway)
    #[arg(long, env = "SEALPOST_MIGRATE", value_parser = BoolishValueParser::new())]
    pub(crate) migrate: bool,
    /// File of key-encryption keys; `DATA_DIR/kek` when embedded. `SEALPOST_KEK` may hold the same,
    /// comma-separated
    #[arg(long, env = "SEALPOST_KEK_FILE", value_name = "FILE")]
    pub(crate) kek_file: Option<PathBuf>,
    /// Whether `SEALPOST_KEK` counts; to the demo it does not.
    #[arg(skip = true)]
    pub(crate) kek_variable: bool,
    /// For development, on loopback only: webhooks may go to http and loopback, logs are for people
    #[arg(long, env = "SEALPOST_DEV", value_parser = BoolishValueParser::new())]
    pub(crate) dev: bool,
    /// What is logged: error, warn, info, debug, trace, or a filter such as `info,access=debug`, which adds a line
    /// for each request
    #[arg(long, env = "SEALPOST_LOG", default_value = "info", value_name = "FILTER")]
    pub(crate) log: String,
    /// How it is logged; text with --dev, else json
    #[arg(long, env = "SEALPOST_LOG_FORMAT", value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

impl ServeArgs {
    /// How to log where nobody said so.
    pub(crate) fn log_format(&self) -> LogFormat {
        self.log_format.unwrap_or(if self.dev { LogFormat::Text } else { LogFormat::Json })
    }
}

/// How the API is served.
#[derive(Args, Clone)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArgs {
    /// Address of the API; port 0 takes a free one
    #[arg(long, env = "SEALPOST_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDR")]
    pub(crate) listen: SocketAddr,
    /// Address of /metrics, /livez and /readyz, or `off`
    #[arg(
        long,
        env = "SEALPOST_OPS_LISTEN",
        default_value = "127.0.0.1:9090",
        value_name = "ADDR"
    )]
    pub(crate) ops_listen: OpsListen,
    /// The address that callers know; the listening one when not given
    #[arg(long, env = "SEALPOST_BASE_URL", value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Certificates to serve TLS with, in PEM: the server's first, then those that lead to its authority
    #[arg(long, env = "SEALPOST_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM; SIGHUP reads both files again
    #[arg(long, env = "SEALPOST_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A proxy in front terminates TLS
    #[arg(long, env = "SEALPOST_BEHIND_TLS_PROXY", value_parser = BoolishValueParser::new())]
    pub(crate) behind_tls_proxy: bool,
    /// Networks of proxies whose X-Forwarded-For or Forwarded is believed; repeat it or separate by commas
    #[arg(
        long = "trusted-proxy",
        env = "SEALPOST_TRUSTED_PROXY",
        value_name = "CIDR",
        value_delimiter = ',',
        value_parser = network
    )]
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// How often one client address may activate in a minute; 0 turns this off
    #[arg(long, env = "SEALPOST_ACTIVATIONS_PER_MINUTE", default_value_t = 20, value_name = "N")]
    pub(crate) activations_per_minute: u32,
    /// How often one client address may log in in a minute; 0 turns this off
    #[arg(long, env = "SEALPOST_LOGINS_PER_MINUTE", default_value_t = 60, value_name = "N")]
    pub(crate) logins_per_minute: u32,
    /// How often one account may end sessions and replace its login secret in a minute; 0 turns this off
    #[arg(
        long,
        env = "SEALPOST_ACCOUNT_CHANGES_PER_MINUTE",
        default_value_t = 60,
        value_name = "N"
    )]
    pub(crate) account_changes_per_minute: u32,
    /// How many pages of the dashboard one account may ask for in a minute; a form counts as four, and 0 turns this
    /// off
    #[arg(long, env = "SEALPOST_DASHBOARD_PER_MINUTE", default_value_t = 120, value_name = "N")]
    pub(crate) dashboard_per_minute: u32,
    /// Threads that serve requests; the number of cores when not given
    #[arg(
        long,
        env = "SEALPOST_WORKERS",
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub(crate) workers: Option<u16>,
    /// Connections that one worker holds at the most
    #[arg(long, env = "SEALPOST_MAX_CONNECTIONS", default_value_t = 10_000, value_name = "N")]
    pub(crate) max_connections: usize,
    /// Bytes of a body at the most
    #[arg(long, env = "SEALPOST_MAX_BODY_BYTES", default_value_t = 2_097_152, value_name = "N")]
    pub(crate) max_body_bytes: usize,
    /// Bytes that all bodies over 16 KiB may take together, until their requests are answered; more are answered 503
    #[arg(long, env = "SEALPOST_BODY_MEMORY", default_value_t = 67_108_864, value_name = "N")]
    pub(crate) body_memory: usize,
    /// How long a client may take to send a body
    #[arg(long, env = "SEALPOST_BODY_TIMEOUT", default_value = "10s", value_name = "SPAN",
          value_parser = humantime::parse_duration)]
    pub(crate) body_timeout: Duration,
    /// How long a connection may go on without a byte of an answer; idle ones, bodies and slow answers need their time
    #[arg(long, env = "SEALPOST_CONNECTION_TIMEOUT", default_value = "60s", value_name = "SPAN",
          value_parser = humantime::parse_duration)]
    pub(crate) connection_timeout: Duration,
}

/// Bounds of the service.
#[derive(Args, Clone)]
#[command(next_help_heading = "Service")]
pub(crate) struct ServiceArgs {
    /// Bytes of a message at the most
    #[arg(long, env = "SEALPOST_MAX_MESSAGE_BYTES", default_value_t = 262_144, value_name = "N")]
    pub(crate) max_message_bytes: usize,
    /// Keys per account that are not revoked
    #[arg(long, env = "SEALPOST_MAX_KEYS_PER_ACCOUNT", default_value_t = 100, value_name = "N")]
    pub(crate) max_keys_per_account: u32,
    /// How long a session lasts
    #[arg(long, env = "SEALPOST_SESSION_TTL", default_value = "12h", value_name = "SPAN",
          value_parser = humantime::parse_duration)]
    pub(crate) session_ttl: Duration,
    /// How long a replaced webhook secret signs along
    #[arg(long, env = "SEALPOST_WEBHOOK_SECRET_OVERLAP", default_value = "24h", value_name = "SPAN",
          value_parser = humantime::parse_duration)]
    pub(crate) webhook_secret_overlap: Duration,
    /// How long an envelope and what became of its deliveries are kept
    #[arg(long, env = "SEALPOST_RETENTION", default_value = "30d", value_name = "SPAN",
          value_parser = humantime::parse_duration)]
    pub(crate) retention: Duration,
    /// How long an Idempotency-Key is remembered
    #[arg(long, env = "SEALPOST_IDEMPOTENCY_TTL", default_value = "24h", value_name = "SPAN",
          value_parser = humantime::parse_duration)]
    pub(crate) idempotency_ttl: Duration,
    /// How long a badge holds; 10 years at the most
    #[arg(long, env = "SEALPOST_BADGE_TTL", default_value = "90d", value_name = "SPAN",
          value_parser = badge_ttl)]
    pub(crate) badge_ttl: Duration,
    /// File of compliance circuits, read again at SIGHUP; the built-in one when not given
    #[arg(long, env = "SEALPOST_CIRCUITS", value_name = "FILE")]
    pub(crate) circuits: Option<PathBuf>,
    /// How new envelopes are sealed; every suite opens
    #[arg(long, env = "SEALPOST_SUITE", value_enum, default_value_t = Suite::default().into())]
    pub(crate) suite: SuiteName,
    /// Sends that may wait for a commit; more are answered 503
    #[arg(long, env = "SEALPOST_QUEUE", default_value_t = 4096, value_name = "N",
          value_parser = positive)]
    pub(crate) queue: usize,
    /// Bytes of envelopes that may wait for a commit; more are answered 503, but one may always wait
    #[arg(long, env = "SEALPOST_QUEUE_BYTES", default_value_t = 67_108_864, value_name = "N",
          value_parser = bytes)]
    pub(crate) queue_bytes: usize,
    /// Sends that share one commit at the most
    #[arg(long, env = "SEALPOST_BATCH", default_value_t = 256, value_name = "N",
          value_parser = positive)]
    pub(crate) batch: usize,
    /// Bytes of envelopes that share one commit at the most, unless one is larger
    #[arg(long, env = "SEALPOST_BATCH_BYTES", default_value_t = 4_194_304, value_name = "N",
          value_parser = bytes)]
    pub(crate) batch_bytes: usize,
    /// Identities kept decrypted in memory at the most
    #[arg(long, env = "SEALPOST_IDENTITIES_CACHED", default_value_t = 10_000, value_name = "N")]
    pub(crate) identities_cached: usize,
}

/// For whom logs are.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One JSON object a line
    Json,
    /// Lines for people
    Text,
}

/// The suites that may be asked for.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SuiteName {
    /// X-Wing, once for many envelopes of a pair
    Channel,
    /// X25519
    Classic,
    /// X-Wing: X25519 and ML-KEM-768
    Hybrid,
}

/// Where operators look.
#[derive(Clone, Copy)]
pub(crate) enum OpsListen {
    At(SocketAddr),
    Off,
}

impl std::str::FromStr for OpsListen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self::Off);
        }
        text.parse().map(Self::At).map_err(|_no_address| "give ADDRESS:PORT or off".to_owned())
    }
}

/// A network, or one address as a network of its own.
fn network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    let one = || text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
    let network = text.parse().or_else(|_no_network| one());
    network.map_err(|_no_address| "give a network, such as 10.0.0.0/8, or an address".to_owned())
}

fn badge_ttl(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(span) if (BADGE_TTL_MIN..=BADGE_TTL_MAX).contains(&span) => Ok(span),
        _ => Err("give a span from 1s to 3650d, such as 90d".to_owned()),
    }
}

const BADGE_TTL_MIN: Duration = Duration::from_secs(1);
const BADGE_TTL_MAX: Duration = Duration::from_hours(3650 * 24);
