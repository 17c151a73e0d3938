//! Appends acts (revocations and similar changes) to the journal file of one database. Keeps acts in memory that cannot
//! be written, and tries again.

use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use sealpost_domain::{
    Clock,
    ports::{JournaledAct, RevocationJournal},
};

use super::{
    file::{self, JournalFault},
    line::{Entry, Header},
};

/// The revocation journal of one database.
pub struct Journal {
    path: PathBuf,
    /// The header that is written if the journal file must be created.
    new: Header,
    /// The name of the journal, from the header of the file. Empty until the file was created or read.
    name: OnceLock<String>,
    /// Whether acts are recorded with marks. False if the database is older than the journal: a new mark would make the
    /// database look up to date.
    has_marks: bool,
    clock: Arc<dyn Clock>,
    pending: Mutex<Vec<Entry>>,
    pending_count: AtomicU64,
}

impl Journal {
    pub(super) fn new(path: PathBuf, new: Header, has_marks: bool, clock: Arc<dyn Clock>) -> Self {
        let (name, pending, pending_count) = Default::default();
        Self { path, new, name, has_marks, clock, pending, pending_count }
    }

    /// Returns the path of the journal file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of acts (journaled changes) that are not in the file yet.
    pub fn pending(&self) -> u64 {
        self.pending_count.load(Ordering::Acquire)
    }

    /// Tries again to write the acts (journaled changes) that are not in the file yet.
    fn write_pending(&self) {
        let pending = self.lock();
        if !pending.is_empty() {
            self.write(pending);
        }
    }

    fn write(&self, mut pending: MutexGuard<'_, Vec<Entry>>) {
        match file::append(&self.path, &self.new, &pending) {
            Ok(()) => pending.clear(),
            Err(fault) => self.log(&fault),
        }
        self.pending_count
            .store(u64::try_from(pending.len()).unwrap_or(u64::MAX), Ordering::Release);
    }

    fn log(&self, fault: &JournalFault) {
        let error: &dyn Error = fault;
        tracing::error!(
            error,
            file = %self.path.display(),
            "the revocation journal cannot be written; a restore of the database could undo revocations"
        );
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RevocationJournal for Journal {
    fn name(&self) -> Option<String> {
        if !self.has_marks {
            return None;
        }
        if self.name.get().is_none() {
            match file::ensure(&self.path, &self.new) {
                // An error only means that another thread has read the name in the meantime.
                Ok(header) => drop(self.name.set(header.journal)),
                Err(fault) => self.log(&fault),
            }
        }
        self.name.get().cloned()
    }

    fn append(&self, mark: Option<u64>, acts: &[JournaledAct]) {
        let at = self.clock.now();
        let mut pending = self.lock();
        pending.extend(acts.iter().map(|act| Entry { at, mark, act: *act }));
        if !pending.is_empty() {
            self.write(pending);
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Runs a thread that retries failed writes to the revocation journal, and removes old acts from it. The thread ends
/// when the keeper is stopped or dropped.
pub(crate) struct JournalKeeper {
    pub(crate) journal: Arc<Journal>,
    thread: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

impl JournalKeeper {
    /// Starts the thread, which also removes acts that are older than `retention` from the journal.
    pub(crate) fn start(journal: Arc<Journal>, retention: Duration) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let kept = Arc::clone(&journal);
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(move || {
            let mut compacted: Option<Instant> = None;
            loop {
                if compacted.is_none_or(|at| at.elapsed() >= COMPACT_EVERY) {
                    compacted = Some(Instant::now());
                    compact(&kept, retention);
                }
                if stopped.recv_timeout(RETRY_EVERY) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                kept.write_pending();
            }
        })?;
        Ok(Self { journal, thread: Mutex::new(Some((stop, thread))) })
    }

    /// Stops the thread. Then tries for the last time to write the acts that are not in the journal yet.
    pub(crate) fn stop(&self) {
        let running = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, thread)) = running {
            drop(stop);
            if thread.join().is_err() {
                tracing::error!("the thread of the revocation journal has panicked");
            }
        }
        self.journal.write_pending();
    }
}

fn compact(journal: &Journal, retention: Duration) {
    let keep_from = journal.clock.now().minus(retention);
    if let Err(fault) = file::compact(&journal.path, keep_from) {
        let error: &dyn Error = &fault;
        tracing::warn!(error, file = %journal.path.display(), "the revocation journal cannot be compacted");
    }
}

const RETRY_EVERY: Duration = Duration::from_secs(5);
const COMPACT_EVERY: Duration = Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use std::fs;

    use sealpost_domain::{ApiKeyId, Timestamp};

    use super::*;
    use crate::clock::SystemClock;

    fn journal(path: PathBuf, has_marks: bool) -> Journal {
        let new = Header { journal: "0a".to_owned(), database: "0b".to_owned() };
        Journal::new(path, new, has_marks, Arc::new(SystemClock))
    }

    fn revoked(key: u8) -> JournaledAct {
        JournaledAct::KeyRevoked(ApiKeyId::from_bytes([key; 16]))
    }

    #[test]
    fn acts_that_cannot_be_written_wait_and_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("missing");
        let journal = journal(below.join("revocations.log"), true);
        assert_eq!(journal.name(), None);
        journal.append(None, &[revoked(1)]);
        journal.append(None, &[revoked(2)]);
        assert_eq!(journal.pending(), 2);
        fs::create_dir(&below).unwrap();
        journal.write_pending();
        assert_eq!(journal.pending(), 0);
        journal.append(Some(1), &[revoked(3)]);
        let content = file::read(journal.path()).unwrap().unwrap();
        let acts: Vec<_> = content.entries.iter().map(|entry| entry.act).collect();
        assert_eq!(acts, [revoked(1), revoked(2), revoked(3)]);
        assert_eq!(journal.name().as_deref(), Some("0a"));
    }

    #[test]
    fn a_journal_that_is_newer_than_its_database_has_no_marks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revocations.log");
        assert_eq!(journal(path.clone(), true).name().as_deref(), Some("0a"));
        assert_eq!(journal(path, false).name(), None);
    }

    #[test]
    fn a_keeper_compacts_at_its_start_and_writes_pending_acts_at_its_stop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revocations.log");
        let journal = Arc::new(journal(path.clone(), true));
        let old = Entry { at: Timestamp::from_millis(1), mark: Some(1), act: revoked(1) };
        file::append(&path, &journal.new, &[old]).unwrap();
        let keeper = JournalKeeper::start(Arc::clone(&journal), Duration::from_hours(24)).unwrap();
        journal.lock().push(Entry { mark: Some(2), ..old });
        keeper.stop();
        keeper.stop();
        let entries = file::read(&path).unwrap().unwrap().entries;
        let acts: Vec<_> = entries.iter().map(|entry| entry.act).collect();
        assert_eq!(acts, [JournaledAct::SessionsEnded, revoked(1)]);
    }
}
