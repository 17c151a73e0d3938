//! The pools: connections that are known to work without a question to the database at every check-out.
//!
//! Whoever finds a connection dead raises an alarm; every other connection that was opened before it is tested before
//! it is handed out again. So a restart of the server costs one failed statement, which whoever begins a transaction
//! repeats on a fresh connection.

use std::{
    error::Error,
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
    HandleError, HandleEvent, ManageConnection, PooledConnection,
    event::{CheckoutEvent, TimeoutEvent},
};

use crate::{
    Settings,
    connect::{ConnectFault, Target, connect},
    connection::AnyConnection,
    facts::Memory,
    fault::Fault,
};

pub(crate) type Pool = r2d2::Pool<Manager>;
pub(crate) type Pooled = PooledConnection<Manager>;

/// Opens connections, and remembers how often one was found dead.
#[derive(Debug)]
pub(crate) struct Manager {
    target: Target,
    settings: Settings,
    alarms: AtomicU64,
    memory: Arc<Memory>,
}

/// A connection in a pool.
pub(crate) struct Link {
    pub(crate) connection: AnyConnection,
    /// Found dead: it must not be handed out again.
    pub(crate) dead: bool,
    /// Whether a commit waits for the disk; SQLite keeps this on the connection.
    pub(crate) relaxed: bool,
    /// How many alarms there had been when it was last known to work.
    alarms: u64,
}

impl Link {
    /// Runs statements, and notices where they find the connection dead.
    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut AnyConnection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        work(&mut self.connection).inspect_err(|fault| self.dead |= fault.is_fatal())
    }
}

/// Makes a pool of `size` connections at the most, and opens the first of them so that a fault shows at once.
///
/// `kind` is what it is called where its waits are counted.
pub(crate) fn open(
    kind: &'static str,
    target: Target,
    size: u32,
    settings: &Settings,
    memory: &Arc<Memory>,
) -> Result<Pool, ConnectFault> {
    let (settings, memory) = (*settings, Arc::clone(memory));
    let manager = Manager { target, settings, alarms: AtomicU64::new(0), memory };
    drop(manager.connect()?);
    Ok(r2d2::Pool::builder()
        .max_size(size)
        .min_idle(Some(1))
        .connection_timeout(settings.connection_timeout)
        .idle_timeout(Some(IDLE_MAX))
        .test_on_check_out(true)
        .error_handler(Box::new(Log))
        .event_handler(Box::new(Figures::of(kind)))
        .build_unchecked(manager))
}

impl ManageConnection for Manager {
    type Connection = Link;
    type Error = ConnectFault;

    fn connect(&self) -> Result<Link, ConnectFault> {
        let alarms = self.alarms.load(Ordering::Acquire);
        let connection = connect(&self.target, &self.settings)?;
        self.memory.forget();
        Ok(Link { connection, dead: false, relaxed: false, alarms })
    }

    fn is_valid(&self, link: &mut Link) -> Result<(), ConnectFault> {
        let alarms = self.alarms.load(Ordering::Acquire);
        if link.alarms != alarms {
            link.connection.ping()?;
            link.alarms = alarms;
        }
        Ok(())
    }

    fn has_broken(&self, link: &mut Link) -> bool {
        if link.dead {
            self.alarms.fetch_add(1, Ordering::AcqRel);
        }
        link.dead || thread::panicking() || link.connection.is_broken()
    }
}

/// Writes down why connections fail while the pool goes on trying.
#[derive(Debug)]
struct Log;

impl HandleError<ConnectFault> for Log {
    fn handle_error(&self, error: ConnectFault) {
        let error: &dyn Error = &error;
        tracing::warn!(error, "no connection to the database");
    }
}

/// Counts, through the `metrics` facade, how long connections are waited for.
#[derive(Debug)]
struct Figures {
    wait: Histogram,
    timeouts: Counter,
}

impl Figures {
    fn of(kind: &'static str) -> Self {
        Self {
            wait: histogram!(POOL_WAIT, "pool" => kind),
            timeouts: counter!(POOL_TIMEOUTS, "pool" => kind),
        }
    }
}

impl HandleEvent for Figures {
    fn handle_checkout(&self, event: CheckoutEvent) {
        self.wait.record(event.duration());
    }

    fn handle_timeout(&self, event: TimeoutEvent) {
        self.wait.record(event.timeout());
        self.timeouts.increment(1);
    }
}

/// How long a connection, or the turn to write, was waited for.
pub(crate) const POOL_WAIT: &str = "sealpost_database_pool_wait_seconds";
pub(crate) const POOL_TIMEOUTS: &str = "sealpost_database_pool_timeouts_total";

/// Longer than any lull of a busy node.
const IDLE_MAX: Duration = Duration::from_mins(10);
