//! The settings of a node.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use ipnet::IpNet;
use sealpost_storage::DatabaseUrl;
use zeroize::Zeroizing;

use crate::{config::EmbeddedPaths, tls::TlsFiles};

/// Everything that a node can be told.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the data is.
    pub database: DatabaseSettings,
    /// How the API is served.
    pub http: HttpSettings,
    /// Bounds of the use cases.
    pub service: sealpost_service::Settings,
    /// How notices are delivered.
    pub webhooks: WebhookSettings,
    /// Where the key-encryption keys are.
    pub kek: KekSettings,
    /// File of compliance circuits; the built-in ones without it.
    pub circuits: Option<PathBuf>,
    /// Migrates a `PostgreSQL` database that is behind. The embedded one is migrated anyway.
    pub migrate: bool,
    /// For development, on loopback only: webhooks may go to http and loopback.
    pub dev: bool,
}

/// Where the data is.
#[derive(Debug, Clone)]
pub struct DatabaseSettings {
    /// Folder of the embedded database and its key file.
    pub data_dir: PathBuf,
    /// The database; without it the embedded one in the data folder.
    pub url: Option<DatabaseUrl>,
    /// Connections at most.
    pub pool_max: u32,
}

/// How the API is served.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Address of the API; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Address of `/metrics`, `/livez` and `/readyz`, if they are served.
    pub ops_listen: Option<SocketAddr>,
    /// The address that callers know; the listening one without it.
    pub base_url: Option<String>,
    /// The certificate and its key, if the node itself speaks TLS.
    pub tls: Option<TlsFiles>,
    /// Whether a proxy in front terminates TLS.
    pub behind_tls_proxy: bool,
    /// Networks of proxies whose `X-Forwarded-For` or `Forwarded` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Activations per minute and client address; 0 turns the limit off.
    pub activations_per_minute: u32,
    /// Logins per minute and client address; 0 turns the limit off.
    pub logins_per_minute: u32,
    /// Changes of sessions and login secret per minute and account; 0 turns the limit off.
    pub account_changes_per_minute: u32,
    /// Pages of the dashboard per minute and account; 0 turns the limit off.
    pub dashboard_per_minute: u32,
    /// Threads that serve requests; the number of cores without it.
    pub workers: Option<u16>,
    /// Connections that one worker holds at most.
    pub max_connections: usize,
    /// Bytes of one body at most.
    pub max_body_bytes: usize,
    /// Bytes that all bodies over 16 KiB may take together.
    pub body_memory: usize,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a connection may go on without a byte of an answer.
    pub connection_timeout: Duration,
}

/// How notices are delivered.
#[derive(Debug, Clone, Default)]
pub struct WebhookSettings {
    /// The dispatcher's settings. The node sets `policy` and adds to `extra_roots`.
    pub dispatcher: sealpost_webhooks::Settings,
    /// PEM file of authorities that receivers' certificates may lead to, besides the public ones.
    pub extra_roots: Option<PathBuf>,
}

/// Where the key-encryption keys are. Without either, the embedded database has its key file beside it.
#[derive(Debug, Clone, Default)]
pub struct KekSettings {
    /// File of keys.
    pub file: Option<PathBuf>,
    /// The keys themselves.
    pub text: Option<Zeroizing<String>>,
}

impl DatabaseSettings {
    /// The database to use.
    pub fn database_url(&self) -> DatabaseUrl {
        self.url.clone().unwrap_or_else(|| DatabaseUrl::Sqlite(embedded_database(&self.data_dir)))
    }

    /// The files of an embedded database.
    pub fn embedded_paths(&self) -> EmbeddedPaths {
        let database = match self.database_url() {
            DatabaseUrl::Postgres(_) => None,
            DatabaseUrl::Sqlite(file) => Some(file),
        };
        EmbeddedPaths { database, kek: self.data_dir.join("kek") }
    }
}

impl HttpSettings {
    /// What stands before the address that is listened on.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

/// The embedded database's file in its folder.
fn embedded_database(data_dir: &Path) -> PathBuf {
    data_dir.join("sealpost.db")
}
