//! The settings of a database, with their defaults.

use std::time::Duration;

/// Sizes, timeouts and cache limits of a database.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Maximum number of connections. On PostgreSQL, one of them is reserved for the thread that stores sends in
    /// batches, so a value below 2 counts as 2. On SQLite, the maximum number of readers, besides the one writer.
    pub pool_max: u32,
    /// If true, connects to PostgreSQL without TLS, and rejects a URL with an `sslmode` other than `disable`. If false,
    /// and the URL has no `sslmode`, connections that leave the machine use `sslmode=verify-full`.
    pub in_clear: bool,
    /// If true, prepares no statements on PostgreSQL, for a pooler in transaction mode without support for prepared
    /// statements. Such a pooler lends each server connection to several clients, so the database role must have the
    /// service's session settings as its defaults.
    pub has_pooler: bool,
    /// Maximum wait for a connection, or for the write lock of SQLite.
    pub connection_timeout: Duration,
    /// Maximum duration of one PostgreSQL statement. A wait for a lock may take at most half of this time.
    pub statement_timeout: Duration,
    /// Maximum duration of a durable commit. If a commit takes longer, its result is in doubt, and durable writes are
    /// refused until a probe write succeeds. Migrations have no such maximum.
    pub commit_timeout: Duration,
    /// Maximum number of entries in each cache, such as the caches of API keys and webhooks. A key with a long policy
    /// counts as several entries.
    pub keys_cached_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            pool_max: 16,
            in_clear: false,
            has_pooler: false,
            connection_timeout: Duration::from_secs(2),
            statement_timeout: Duration::from_secs(10),
            commit_timeout: Duration::from_secs(10),
            keys_cached_max: 100_000,
        }
    }
}
