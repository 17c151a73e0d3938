//! Connection pools that test a connection at checkout only if another connection has died. A test query at every
//! checkout would cost a round trip.
//!
//! Each dead connection increments the failure count of its pool. At checkout, a connection is tested only if this
//! count has changed since the connection was opened or last tested. For example, after a restart of the server one
//! statement fails, and the pool then tests all its other connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use diesel::r2d2::R2D2Connection;
use metrics::{Counter, Histogram, counter, histogram};
use r2d2::{
    HandleError, HandleEvent, ManageConnection,
    event::{CheckoutEvent, TimeoutEvent},
};
use sealpost_domain::with_causes;

use crate::{
    connection::{
        AnyConnection,
        connect::{ConnectError, Target, connect},
        query_error::QueryError,
        write_probe,
    },
    send::facts_cache::FactsCache,
    settings::Settings,
};

pub(crate) type Pool = r2d2::Pool<Manager>;
pub(crate) type PooledConnection = r2d2::PooledConnection<Manager>;

/// Opens the connections of a pool, and counts the connections that died.
#[derive(Debug)]
pub(crate) struct Manager {
    target: Target,
    settings: Settings,
    failures: AtomicU64,
    facts_cache: Arc<FactsCache>,
}

/// A pooled connection, with the state that the pool needs to test and close it.
pub(crate) struct Connection {
    pub(crate) backend: AnyConnection,
    /// True if the connection is dead, so that the pool closes it.
    pub(crate) is_dead: bool,
    /// True if the last transaction did not wait for the disk at its commit. On SQLite, the next durable transaction
    /// must then reset the pragma `synchronous`.
    pub(crate) is_relaxed: bool,
    /// Id of the server process that serves this connection; `None` for SQLite.
    pub(crate) server_process: Option<i32>,
    /// Failure count of the pool when this connection was last known to work.
    failures: u64,
}

impl Connection {
    /// Runs statements. If one fails because the connection died, records that the connection is dead.
    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut AnyConnection) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        work(&mut self.backend).inspect_err(|fault| self.is_dead |= fault.is_fatal())
    }
}

/// Creates a pool of at most `size` connections. The metrics of the pool have the label `name`. First opens one
/// connection as a test, so that connection errors are returned at once.
pub(crate) fn open(
    name: &'static str,
    target: Target,
    size: u32,
    settings: &Settings,
    facts_cache: &Arc<FactsCache>,
) -> Result<Pool, ConnectError> {
    let (settings, facts_cache) = (*settings, Arc::clone(facts_cache));
    let manager = Manager { target, settings, failures: AtomicU64::new(0), facts_cache };
    drop(manager.connect()?);
    Ok(r2d2::Pool::builder()
        .max_size(size)
        .min_idle(Some(1))
        .connection_timeout(settings.connection_timeout)
        .idle_timeout(Some(IDLE_MAX))
        .test_on_check_out(true)
        .error_handler(Box::new(ErrorLog))
        .event_handler(Box::new(PoolMetrics {
            wait: histogram!(POOL_WAIT, "pool" => name),
            timeouts: counter!(POOL_TIMEOUTS, "pool" => name),
        }))
        .build_unchecked(manager))
}

impl ManageConnection for Manager {
    type Connection = Connection;
    type Error = ConnectError;

    fn connect(&self) -> Result<Connection, ConnectError> {
        let failures = self.failures.load(Ordering::Acquire);
        let mut backend = connect(&self.target, &self.settings)?;
        let server_process = write_probe::server_process(&mut backend)?;
        self.facts_cache.clear();
        Ok(Connection { backend, is_dead: false, is_relaxed: false, server_process, failures })
    }

    fn is_valid(&self, connection: &mut Connection) -> Result<(), ConnectError> {
        let failures = self.failures.load(Ordering::Acquire);
        if connection.failures != failures {
            connection.backend.ping()?;
            connection.failures = failures;
        }
        Ok(())
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        if connection.is_dead {
            self.failures.fetch_add(1, Ordering::AcqRel);
        }
        connection.is_dead || thread::panicking() || connection.backend.is_broken()
    }
}

/// Logs failed attempts to open a connection. The pool continues to try.
#[derive(Debug)]
struct ErrorLog;

impl HandleError<ConnectError> for ErrorLog {
    fn handle_error(&self, error: ConnectError) {
        tracing::warn!(error = with_causes(&error), "cannot connect to the database; trying again");
    }
}

/// Records how long callers wait for a connection, and counts timeouts.
#[derive(Debug)]
struct PoolMetrics {
    wait: Histogram,
    timeouts: Counter,
}

impl HandleEvent for PoolMetrics {
    fn handle_checkout(&self, event: CheckoutEvent) {
        self.wait.record(event.duration());
    }

    fn handle_timeout(&self, event: TimeoutEvent) {
        self.wait.record(event.timeout());
        self.timeouts.increment(1);
    }
}

/// Metric of the time that callers wait for a connection, or for the write lock of SQLite.
pub(crate) const POOL_WAIT: &str = "sealpost_database_pool_wait_seconds";
pub(crate) const POOL_TIMEOUTS: &str = "sealpost_database_pool_timeouts_total";

/// Time after which the pool closes an idle connection. Longer than the quiet periods of a busy node, so that its
/// connections stay open.
const IDLE_MAX: Duration = Duration::from_mins(10);
