//! Runs the checkpoints of an SQLite database on a separate thread.
//!
//! A checkpoint copies the write-ahead log into the database file. SQLite can also do this at the end of a commit, but
//! then all other writers wait for the copying and for the disk.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use diesel::{
    SqliteConnection, connection::SimpleConnection as _, prelude::*, sql_query, sql_types::BigInt,
};
use parking_lot::{Condvar, FairMutex, Mutex};
use sealpost_domain::with_causes;

use crate::{
    connection::{
        AnyConnection,
        connect::{ConnectError, Target, connect},
        gradual_flush::{GradualFlush, bytes_changed_by_thread},
    },
    settings::Settings,
};

/// The thread that runs checkpoints. The thread sleeps until [`wake`](Self::wake) is called. Dropping this value stops
/// the thread, and waits until its connection is closed.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    signals: Arc<Signals>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Signals {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SignalState {
    is_woken: bool,
    is_stopped: bool,
    /// Time at which readers began to prevent the copying of a long log. `None` if no reader prevents the copying.
    held_since: Option<Instant>,
}

/// The state of the write-ahead log, as `PRAGMA wal_checkpoint` returns it.
#[derive(QueryableByName)]
pub(crate) struct LogState {
    /// Number of pages in the log.
    #[diesel(sql_type = BigInt)]
    pub(crate) log: i64,
    /// Number of these pages that are copied to the database file.
    #[diesel(sql_type = BigInt)]
    pub(crate) checkpointed: i64,
}

impl Checkpointer {
    /// Starts the thread with a connection to `target`. Each writer of this process holds `write_lock` while it writes.
    pub(crate) fn start(
        connection: AnyConnection,
        target: Target,
        settings: Settings,
        write_lock: Arc<FairMutex<()>>,
    ) -> io::Result<Self> {
        let signals = Arc::<Signals>::default();
        let received = Arc::clone(&signals);
        let thread = thread::Builder::new().name("checkpointer".to_owned()).spawn(move || {
            let AnyConnection::Sqlite(connection) = connection else { return };
            let signals = Arc::clone(&received);
            let portions = None;
            let mut work = Work { connection, target, settings, write_lock, signals, portions };
            let mut pause = PAUSE;
            while received.wait(pause) {
                match work.relieve() {
                    Ok(is_held) => {
                        received.set_held(is_held);
                        if is_held {
                            // Wakes this thread again, because the reader may end without a later commit that wakes the
                            // thread.
                            received.wake();
                        }
                        pause = if is_held { PAUSE_HELD } else { PAUSE };
                    }
                    Err(error) => {
                        tracing::warn!(
                            error = with_causes(&error),
                            "a checkpoint failed; another one runs after a commit"
                        );
                        pause = PAUSE_AFTER_FAILURE;
                    }
                }
            }
        })?;
        Ok(Self { signals, thread: Some(thread) })
    }

    /// Returns the time for which readers have prevented the copying of a long log. `None` if no reader prevents the
    /// copying.
    pub(crate) fn held_for(&self) -> Option<Duration> {
        self.signals.state.lock().held_since.map(|since| since.elapsed())
    }

    /// Makes the thread check the length of the log soon, because a transaction has ended.
    pub(crate) fn wake(&self) {
        self.signals.wake();
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.signals.state.lock().is_stopped = true;
        self.signals.changed.notify_one();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread for checkpoints panicked");
        }
    }
}

impl Signals {
    /// Waits until the thread is woken, and then for `pause`. Returns false if the thread must stop.
    fn wait(&self, pause: Duration) -> bool {
        let idle = |state: &mut SignalState| !state.is_woken && !state.is_stopped;
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, idle);
        state.is_woken = false;
        self.changed.wait_while_for(&mut state, |state| !state.is_stopped, pause);
        !state.is_stopped
    }

    fn wake(&self) {
        let mut state = self.state.lock();
        if !state.is_woken {
            state.is_woken = true;
            self.changed.notify_one();
        }
    }

    fn set_held(&self, is_held: bool) {
        let mut state = self.state.lock();
        state.held_since = is_held.then(|| state.held_since.unwrap_or_else(Instant::now));
    }
}

/// The connections and locks of the thread for checkpoints.
struct Work {
    connection: SqliteConnection,
    target: Target,
    settings: Settings,
    write_lock: Arc<FairMutex<()>>,
    signals: Arc<Signals>,
    /// The connection and the file for copying a long log in portions. Opened when a long log is copied for the first
    /// time.
    portions: Option<Portions>,
}

/// The connection and the file that a checkpoint in portions needs.
struct Portions {
    /// A connection with a read transaction, which limits the portion: a checkpoint does not copy pages that were
    /// written after the start of this transaction.
    reader: SqliteConnection,
    flush: GradualFlush,
}

impl Work {
    /// Runs a checkpoint if the log is long enough. Returns true if a reader prevents the copying of some pages.
    ///
    /// First, [`PASSES_BESIDE_WRITERS`] passes copy pages while other threads write. Usually one of these passes copies
    /// all pages. SQLite then syncs the database file. The last pass holds the write lock, and copies only the pages
    /// that were written since, so its sync is short. The next write then starts the log from its beginning.
    fn relieve(&mut self) -> Result<bool, CheckpointError> {
        let LogState { log, checkpointed } = checkpoint(&mut self.connection, "NOOP")?;
        if log - checkpointed < CHECKPOINT_FROM_PAGES {
            return Ok(false);
        }
        if log - checkpointed > LOG_PAGES_LONG && self.copy_portions(checkpointed)? {
            return Ok(true);
        }
        for _ in 0..PASSES_BESIDE_WRITERS {
            checkpoint(&mut self.connection, "PASSIVE")?;
        }
        // If the lock times out, the last pass also runs while other threads write, which is harmless.
        let _guard = self.write_lock.try_lock_for(self.settings.connection_timeout);
        let LogState { log, checkpointed } = checkpoint(&mut self.connection, "PASSIVE")?;
        Ok(checkpointed < log)
    }

    /// Copies a long log in portions. After each portion, writes the copied pages to the disk gradually, because a sync
    /// of all pages at once would occupy the disk for seconds. Returns true if a reader still prevents the copying.
    fn copy_portions(&mut self, mut copied: i64) -> Result<bool, CheckpointError> {
        loop {
            let before = bytes_changed_by_thread();
            let LogState { log, checkpointed } = self.copy_portion()?;
            let changed = bytes_changed_by_thread().zip(before).map(|(now, before)| now - before);
            if checkpointed - copied < CHECKPOINT_FROM_PAGES {
                return Ok(true);
            }
            copied = checkpointed;
            let Some(portions) = &self.portions else { return Ok(false) };
            // If the number of changed bytes is unknown, assumes that each page of the log changed another page of the
            // file.
            let changed = changed
                .unwrap_or_else(|| u64::try_from(log).unwrap_or(u64::MAX).saturating_mul(4096));
            portions.flush.run(changed, || !self.signals.state.lock().is_stopped)?;
            if log - checkpointed < 2 * CHECKPOINT_FROM_PAGES
                || self.signals.state.lock().is_stopped
            {
                return Ok(false);
            }
        }
    }

    /// Copies the pages that are in the log now, without a sync of the database file. SQLite syncs the file only if all
    /// pages of the log are copied. Therefore first adds a page to the log that this checkpoint does not copy.
    fn copy_portion(&mut self) -> Result<LogState, CheckpointError> {
        let portions = match &mut self.portions {
            Some(portions) => portions,
            none => none.insert(Portions::open(&self.target, &self.settings)?),
        };
        let begun = portions.reader.batch_execute(SNAPSHOT);
        let written = begun.and_then(|()| {
            let guard = self.write_lock.try_lock_for(self.settings.connection_timeout);
            // If the lock times out, other threads have written pages since the read transaction began. No further page
            // is needed.
            guard.map_or(Ok(()), |_guard| self.connection.batch_execute(LATER_WRITE))
        });
        let copied = written.and_then(|()| checkpoint(&mut self.connection, "PASSIVE"));
        // Ends the read transaction also after a failure. An open transaction would prevent the copying of later pages
        // permanently.
        let ended = portions.reader.batch_execute("COMMIT");
        let copied = copied?;
        ended?;
        Ok(copied)
    }
}

impl Portions {
    fn open(target: &Target, settings: &Settings) -> Result<Self, CheckpointError> {
        let (AnyConnection::Sqlite(reader), Target::SqliteWriter(path)) =
            (connect(target, settings)?, target)
        else {
            return Err(io::Error::other("not SQLite").into());
        };
        Ok(Self { reader, flush: GradualFlush::open(path)? })
    }
}

/// The reasons why a checkpoint failed.
#[derive(Debug, thiserror::Error)]
enum CheckpointError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Driver(#[from] diesel::result::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Runs a checkpoint in an SQLite mode such as `PASSIVE`, and returns the state of the log. The mode `NOOP` copies
/// nothing.
pub(crate) fn checkpoint(conn: &mut SqliteConnection, mode: &str) -> QueryResult<LogState> {
    sql_query(format!("PRAGMA wal_checkpoint({mode})")).get_result(conn)
}

/// Number of uncopied pages in the log (16 MiB) at which a checkpoint runs. With a higher number, each checkpoint takes
/// longer. With a lower number, pages that every batch of sends changes are copied more often.
const CHECKPOINT_FROM_PAGES: i64 = 4096;
/// Number of uncopied pages (64 MiB) above which the log is long. A log becomes long only while a reader prevents its
/// copying.
pub(crate) const LOG_PAGES_LONG: i64 = 16_384;
/// Begins a transaction and takes its snapshot.
const SNAPSHOT: &str = "BEGIN; /* checkpointer.snapshot */ SELECT id FROM database_identity";
/// A write that changes no value, but adds a page to the log: see [`Work::copy_portion`].
const LATER_WRITE: &str = "/* checkpointer.later_write */ UPDATE database_identity SET id = id";
/// Number of passes of a checkpoint while other threads write.
const PASSES_BESIDE_WRITERS: u32 = 3;
/// Pause between two checks of the length of the log while transactions write.
const PAUSE: Duration = Duration::from_millis(20);
/// Pause while a reader prevents the copying of the log.
const PAUSE_HELD: Duration = Duration::from_millis(500);
/// Pause after a failed checkpoint, for example on a full disk.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);
