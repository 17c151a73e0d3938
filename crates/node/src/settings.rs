//! The settings of a node.
//!
//! Each crate declares and documents its own settings, with their defaults. [`Settings`] combines them and adds the
//! settings that only the node uses.

pub mod base_url;
pub mod checks;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use zeroize::Zeroizing;

use crate::cosigners::LogWitness;

pub use sealpost_api::{AdminSettings, ApiSettings};
pub use sealpost_kek::{NameError, ProviderName, quorum};
pub use sealpost_service::{AccessSettings, Activation, Settings as ServiceSettings};
pub use sealpost_storage::{DatabaseUrl, Settings as StorageSettings};
pub use sealpost_web::WebSettings;
pub use sealpost_webhooks::{RetrySchedule, Settings as DispatcherSettings};

/// All settings of a node.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The database and its data folder.
    pub database: DatabaseSettings,
    /// The addresses, TLS files and connection limits of the HTTP servers.
    pub http: HttpSettings,
    /// The settings of the HTTP API. The node sets `base_url` and `is_secure` from [`HttpSettings`].
    pub api: ApiSettings,
    /// The settings of the web pages.
    pub web: WebSettings,
    /// The settings of the console: web pages and an API for operators.
    pub console: ConsoleSettings,
    /// The settings of the service behind the API and the web pages.
    pub service: ServiceSettings,
    /// The settings of the delivery of events to webhooks.
    pub webhooks: WebhookSettings,
    /// The source of the key-encryption keys.
    pub keys: KeySettings,
    /// The file of compliance circuits, the checks that each jurisdiction requires. `None` selects the built-in
    /// circuits.
    pub circuits: Option<PathBuf>,
    /// The file of reserved handles: readable names of keys that only an operator can assign. `None` selects the
    /// built-in list. At start, the node replaces `service.reserved_handles` with this list.
    pub reserved_handles: Option<PathBuf>,
    /// The witnesses that cosign the checkpoints of the transparency log.
    pub log_witnesses: Vec<LogWitness>,
    /// The time for which the revocation journal keeps entries. Should be at least the age of the oldest backup.
    pub journal_retention: JournalRetention,
    /// Migrates an outdated PostgreSQL database at start. The embedded database is always migrated.
    pub migrate: bool,
    /// Development mode: webhooks may use plain HTTP and loopback addresses. The node may then listen on loopback only.
    pub dev: bool,
}

/// The database and its data folder.
#[derive(Debug, Clone)]
pub struct DatabaseSettings {
    /// The folder of the embedded database and of its key file.
    pub data_dir: PathBuf,
    /// The database. `None` selects the embedded database in the data folder.
    pub url: Option<DatabaseUrl>,
    /// The settings of the connections to the database.
    pub storage: StorageSettings,
    /// The location of the revocation journal.
    pub revocation_journal: JournalLocation,
}

/// The location of the revocation journal, a file of revocations outside the database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum JournalLocation {
    /// A file in the data folder, named after the id of the database.
    #[default]
    DataFolder,
    /// A file at this path.
    File(PathBuf),
    /// No journal.
    Off,
}

/// The addresses, TLS files and connection limits of the two HTTP servers: the API with the pages, and operations.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The address of the API and the web pages. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// The operations address, which serves `/metrics`, `/livez` and `/readyz`. `None` turns it off.
    pub ops_listen: Option<SocketAddr>,
    /// The public URL of the service. `None` selects the address of the API.
    pub base_url: Option<String>,
    /// The files of the TLS certificate and its private key. `None` serves plain HTTP.
    pub tls: Option<TlsFiles>,
    /// True if a proxy in front of the node terminates TLS.
    pub behind_tls_proxy: bool,
    /// The number of threads that serve requests, at most [`WORKERS_MAX`](Self::WORKERS_MAX). `None` selects the number
    /// of cores.
    pub workers: Option<u16>,
    /// The largest number of connections per worker thread.
    pub max_connections: usize,
    /// The largest number of anonymous connections of all threads together. A connection is anonymous until one of its
    /// requests is authenticated, and again after a request that is not authenticated. If this number is reached, a new
    /// connection closes the oldest anonymous connection.
    pub max_anonymous_connections: usize,
    /// The largest number of anonymous connections from one client address. A /64 network of IPv6 counts as one
    /// address. If this number is reached, a new connection closes the oldest anonymous connection from the same
    /// address.
    pub max_anonymous_connections_per_address: usize,
    /// The maximum time for the TLS handshake of a connection.
    pub tls_handshake_timeout: Duration,
    /// The maximum size of a request head in bytes.
    pub max_head_bytes: usize,
    /// The time after which a connection is closed if no response byte was written to the client.
    pub connection_timeout: Duration,
}

/// The certificate chain and the private key of a server, both in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The path of the certificate chain: the server's certificate first, then the intermediate certificates.
    pub chain: PathBuf,
    /// The path of the private key.
    pub key: PathBuf,
}

/// The console: web pages and an API for operators, which the operations address serves.
#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// The path of the file with the names, roles and password hashes of the operators. `None` turns off the console
    /// and its API.
    pub password_file: Option<PathBuf>,
    /// The HTTPS URL at which a proxy serves the operations address. `None` if browsers use the operations address
    /// directly.
    pub url: Option<String>,
    /// The limits of operators' sign-ins, and the lifetime of their sessions.
    pub admin: AdminSettings,
}

/// The delivery of events to webhooks.
#[derive(Debug, Clone, Default)]
pub struct WebhookSettings {
    /// The settings of the dispatcher, which sends events to webhooks. The node sets `policy.dev` from
    /// [`Settings::dev`], and `events` and `retention` from the service settings. The node adds the certificates of the
    /// file [`extra_roots`](WebhookSettings::extra_roots) to the dispatcher's `extra_roots`.
    pub dispatcher: DispatcherSettings,
    /// The path of a PEM file with certificate authorities to trust in addition to the public ones.
    pub extra_roots: Option<PathBuf>,
}

/// The source of the key-encryption keys: a file, a text, or an external key provider. A provider wraps (encrypts) the
/// keys, and the database stores the wrapped keys. If no source is given, the embedded database uses a key file in the
/// data folder.
#[derive(Debug, Clone)]
pub struct KeySettings {
    /// Path of the file with the key-encryption keys.
    pub file: Option<PathBuf>,
    /// The keys as text: the lines of a key file, separated by commas or line ends.
    pub text: Option<Zeroizing<String>>,
    /// The key provider that wraps and unwraps the keys.
    pub provider: Option<ProviderName>,
    /// The interval at which a running node asks the key provider to unwrap the keys again. If the provider refuses,
    /// the node must end, because it may no longer use the keys.
    pub recheck: Duration,
    /// The time for which a running node continues to use the keys while the key provider cannot be reached. It begins
    /// with the first failed request.
    pub grace: Duration,
    /// Whether the start waits while the key provider refuses or cannot be reached. If false, the start fails. With the
    /// provider [`Quorum`](ProviderName::Quorum), the start always waits.
    pub wait: bool,
}

/// The time for which the revocation journal keeps entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalRetention(pub Duration);

impl Default for JournalRetention {
    fn default() -> Self {
        Self(Duration::from_hours(400 * 24))
    }
}

impl DatabaseSettings {
    /// Returns the configured database. If none is configured, returns the embedded database in the data folder.
    pub fn database_url(&self) -> DatabaseUrl {
        let embedded = || DatabaseUrl::Sqlite(self.data_dir.join("sealpost.db"));
        self.url.clone().unwrap_or_else(embedded)
    }
}

impl HttpSettings {
    /// The largest number of threads that serve requests. The HTTP library ends the process if there are more.
    pub const WORKERS_MAX: u16 = 512;

    /// Returns the URL scheme of the listening address: `https` with a TLS certificate, otherwise `http`.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

impl KeySettings {
    /// Returns true if the start of the node waits for the key provider. The start always waits for a quorum, because
    /// operators can give the shares of its key only after the process has started.
    pub(crate) fn waits(&self) -> bool {
        self.wait || matches!(self.provider, Some(ProviderName::Quorum(_)))
    }
}

impl Default for KeySettings {
    fn default() -> Self {
        Self {
            file: None,
            text: None,
            provider: None,
            recheck: Duration::from_mins(5),
            grace: Duration::from_hours(24),
            wait: false,
        }
    }
}

impl Default for DatabaseSettings {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("./sealpost-data"),
            url: None,
            storage: StorageSettings::default(),
            revocation_journal: JournalLocation::default(),
        }
    }
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            ops_listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 9090))),
            base_url: None,
            tls: None,
            behind_tls_proxy: false,
            workers: None,
            max_connections: 10_000,
            max_anonymous_connections: 4096,
            max_anonymous_connections_per_address: 1024,
            tls_handshake_timeout: Duration::from_secs(5),
            max_head_bytes: 16_384,
            connection_timeout: Duration::from_mins(1),
        }
    }
}
