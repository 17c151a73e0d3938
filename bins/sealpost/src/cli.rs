//! The command line. Every setting is a flag and an environment variable of the same name.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use sealpost_storage::DatabaseUrl;
use sealpost_webhooks::RetrySchedule;

/// Decentralised identity and sealed messaging.
#[derive(Parser)]
#[command(name = "sealpost", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Shows the whole main job on a temporary database, step by step
    Demo,
    /// Makes key-encryption keys
    #[command(subcommand)]
    Kek(KekCommand),
    /// Brings the database to this version
    Migrate(DatabaseArgs),
    /// Serves the API (what `sealpost` alone does too)
    Serve(Box<ServeArgs>),
}

#[derive(Subcommand)]
pub(crate) enum KekCommand {
    /// Prints a fresh line for a key file
    New {
        /// The version of the new key; the highest version of a key file encrypts
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        version: u32,
    },
}

/// Where the data is.
#[derive(Args, Clone)]
pub(crate) struct DatabaseArgs {
    /// Folder of the embedded database and its key file
    #[arg(long, env = "SEALPOST_DATA_DIR", default_value = "./sealpost-data", value_name = "DIR")]
    pub(crate) data_dir: PathBuf,
    /// postgres://… or sqlite:PATH; without it the embedded database in the data folder
    #[arg(long, env = "SEALPOST_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) database_url: Option<DatabaseUrl>,
    /// Connections to the database at the most
    #[arg(
        long,
        env = "SEALPOST_DATABASE_POOL",
        default_value_t = 16,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=1000)
    )]
    pub(crate) database_pool: u32,
}

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
    pub(crate) webhooks: WebhookArgs,
    /// Migrate a `PostgreSQL` database that is behind (the embedded one is migrated anyway)
    #[arg(long, env = "SEALPOST_MIGRATE")]
    pub(crate) migrate: bool,
    /// File of key-encryption keys; `DATA_DIR/kek` when embedded. `SEALPOST_KEK` may hold the same,
    /// comma-separated
    #[arg(long, env = "SEALPOST_KEK_FILE", value_name = "FILE")]
    pub(crate) kek_file: Option<PathBuf>,
    /// Whether `SEALPOST_KEK` counts; to the demo it does not.
    #[arg(skip = true)]
    pub(crate) kek_variable: bool,
    /// For development, on loopback only: webhooks may go to http and loopback, logs are for people
    #[arg(long, env = "SEALPOST_DEV")]
    pub(crate) dev: bool,
    /// What is logged: error, warn, info, debug, trace, or a tracing filter
    #[arg(long, env = "SEALPOST_LOG", default_value = "info", value_name = "FILTER")]
    pub(crate) log: String,
}

/// How the API is served.
#[derive(Args, Clone)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArgs {
    /// Address of the API; port 0 takes a free one
    #[arg(long, env = "SEALPOST_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDR")]
    pub(crate) listen: SocketAddr,
    /// Address of /livez and /readyz, or `off`
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
    /// A proxy in front terminates TLS
    #[arg(long, env = "SEALPOST_BEHIND_TLS_PROXY")]
    pub(crate) behind_tls_proxy: bool,
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
    /// How long a client may take to send a body
    #[arg(long, env = "SEALPOST_BODY_TIMEOUT", default_value = "10s", value_name = "SPAN",
          value_parser = humantime::parse_duration)]
    pub(crate) body_timeout: Duration,
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
    /// How new envelopes are sealed; every suite opens
    #[arg(long, env = "SEALPOST_SUITE", value_enum, default_value_t = SuiteName::Hybrid)]
    pub(crate) suite: SuiteName,
    /// Sends that may wait for a commit; more are answered 503
    #[arg(long, env = "SEALPOST_QUEUE", default_value_t = 4096, value_name = "N",
          value_parser = positive)]
    pub(crate) queue: usize,
    /// Sends that share one commit at the most
    #[arg(long, env = "SEALPOST_BATCH", default_value_t = 256, value_name = "N",
          value_parser = positive)]
    pub(crate) batch: usize,
    /// Identities kept decrypted in memory at the most
    #[arg(long, env = "SEALPOST_IDENTITIES_CACHED", default_value_t = 10_000, value_name = "N")]
    pub(crate) identities_cached: u64,
}

/// How notices are delivered.
#[derive(Args, Clone)]
#[command(next_help_heading = "Webhooks")]
pub(crate) struct WebhookArgs {
    /// Spans after which a failed delivery is tried again
    #[arg(
        long = "webhook-retry-schedule",
        env = "SEALPOST_WEBHOOK_RETRY_SCHEDULE",
        default_value = "5s,5m,30m,2h,5h,10h,14h,20h,24h",
        value_name = "SPANS"
    )]
    pub(crate) retry_schedule: RetrySchedule,
    /// How long a receiver may take
    #[arg(
        long = "webhook-timeout",
        env = "SEALPOST_WEBHOOK_TIMEOUT",
        default_value = "15s",
        value_name = "SPAN",
        value_parser = humantime::parse_duration
    )]
    pub(crate) timeout: Duration,
    /// How long a node holds a delivery before another may take it; at least the timeout and 10 s
    #[arg(
        long = "webhook-lease",
        env = "SEALPOST_WEBHOOK_LEASE",
        default_value = "45s",
        value_name = "SPAN",
        value_parser = humantime::parse_duration
    )]
    pub(crate) lease: Duration,
    /// Deliveries held in memory at the most; the rest waits in the database
    #[arg(
        id = "webhook-queue",
        long = "webhook-queue",
        env = "SEALPOST_WEBHOOK_QUEUE",
        default_value_t = 10_000,
        value_name = "N",
        value_parser = positive
    )]
    pub(crate) queue: usize,
    /// Deliveries under way at the most
    #[arg(
        long = "webhook-in-flight",
        env = "SEALPOST_WEBHOOK_IN_FLIGHT",
        default_value_t = 512,
        value_name = "N",
        value_parser = positive
    )]
    pub(crate) in_flight: usize,
    /// Deliveries under way to one registration at the most
    #[arg(
        long = "webhook-in-flight-per-target",
        env = "SEALPOST_WEBHOOK_IN_FLIGHT_PER_TARGET",
        default_value_t = 8,
        value_name = "N",
        value_parser = positive
    )]
    pub(crate) in_flight_per_target: usize,
}

/// The suites that may be asked for.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SuiteName {
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

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1_000_000) => Ok(number),
        _ => Err("give a number from 1 to 1000000".to_owned()),
    }
}
