//! Maintains a revocation journal on a thread: retries failed writes, removes old entries, and applies the journal
//! again if the database has lost commits.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use sealpost_domain::with_causes;
use sealpost_service::PeriodicThread;
use sealpost_storage::Database;

use super::{
    file,
    record::Journal,
    recovery::{find_gap, recover_if_older, unusable},
};
use crate::error::database_error;

/// The running thread that maintains a revocation journal. The thread ends when the keeper is stopped or dropped.
pub(crate) struct JournalKeeper {
    pub(crate) journal: Arc<Journal>,
    thread: PeriodicThread,
}

impl JournalKeeper {
    /// Starts the thread, which removes entries that are older than `retention`.
    pub(crate) fn start(
        journal: Arc<Journal>,
        database: Arc<Database>,
        retention: Duration,
    ) -> io::Result<Self> {
        compact(&journal, &database, retention);
        let (kept, mut compacted, mut expected) = (Arc::clone(&journal), Instant::now(), 0);
        let thread = PeriodicThread::start("journal", [CHECK_EVERY; 2], move |_| {
            kept.write_pending();
            check(&kept, &database, &mut expected);
            if compacted.elapsed() >= COMPACT_EVERY {
                compacted = Instant::now();
                compact(&kept, &database, retention);
            }
        })?;
        Ok(Self { journal, thread })
    }

    /// Stops the thread. Then tries for the last time to write the entries that are not in the file yet.
    pub(crate) fn stop(&self) {
        self.thread.stop();
        self.journal.write_pending();
    }
}

/// Compares the journal with the database. If the database lost commits, applies the journal. If the file lost entries,
/// stores this gap in `journal`, for a warning to operators. `expected` is the [mark](super::line::Entry::mark)
/// (transaction number) of the database at the previous check: the file must have all entries up to this mark. Sets
/// `expected` to the present mark.
fn check(journal: &Journal, database: &Arc<Database>, expected: &mut u64) {
    let compared = recover_if_older(journal, database)
        .and_then(|_is_recovered| find_gap(journal, database, *expected));
    match compared {
        Ok(mark) => *expected = mark,
        Err(error) => {
            tracing::warn!(
                error = with_causes(&error),
                "cannot compare the database with the revocation journal; trying again"
            );
        }
    }
}

fn compact(journal: &Journal, database: &Database, retention: Duration) {
    let (now, path) = (journal.clock.now(), &journal.path);
    let server = database.read(|reader| reader.shared_time(now)).map_err(database_error);
    let compacted = server.and_then(|server| {
        file::compact(path, [now, server], retention).map_err(|fault| unusable(path, fault))
    });
    match compacted {
        Ok(0) => {}
        Ok(entries) => {
            let file = path.display();
            tracing::info!(%file, entries, "removed old entries from the revocation journal");
        }
        Err(error) => tracing::warn!(
            error = with_causes(&error),
            file = %path.display(),
            "the revocation journal cannot be compacted"
        ),
    }
}

const CHECK_EVERY: Duration = Duration::from_secs(5);
const COMPACT_EVERY: Duration = Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use sealpost_domain::{
        ApiKeyId, Timestamp,
        ports::{JournaledAct, RevocationJournal as _},
    };
    use sealpost_storage::{DatabaseUrl, Settings};

    use super::*;
    use crate::{
        clock::SystemClock,
        journal::line::{Entry, Header},
    };

    #[test]
    fn a_keeper_compacts_at_its_start_and_writes_pending_acts_at_its_stop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revocations.log");
        let url = DatabaseUrl::Sqlite(folder.path().join("sealpost.db"));
        let database = Arc::new(Database::open(&url, Settings::default()).unwrap());
        let new = Header { journal: "0a".to_owned(), database: "0b".to_owned(), is_partial: false };
        let journal = Arc::new(Journal::new(path.clone(), new, Arc::new(SystemClock)));
        let act = JournaledAct::KeyRevoked(ApiKeyId::from_bytes([1; 16]));
        let old = Entry { at: Timestamp::from_millis(1), mark: Some(1), act };
        let new = Entry { at: journal.clock.now(), mark: None, act };
        file::append(&path, &journal.new, &[old, new]).unwrap();
        let retention = Duration::from_hours(24);
        let keeper = JournalKeeper::start(Arc::clone(&journal), database, retention).unwrap();
        journal.pending.lock().push(Entry { mark: Some(2), ..old });
        keeper.stop();
        keeper.stop();
        let entries = file::read(&path).unwrap().unwrap().entries;
        let acts: Vec<_> = entries.iter().map(|entry| entry.act).collect();
        assert_eq!(acts, [JournaledAct::SessionsEnded, act, act]);
    }

    #[test]
    fn a_journal_that_another_process_has_created_is_compared_under_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revocations.log");
        let url = DatabaseUrl::Sqlite(folder.path().join("sealpost.db"));
        let database = Arc::new(Database::open(&url, Settings::default()).unwrap());
        database.migrate().unwrap();
        let new = Header { journal: "0a".to_owned(), database: "0b".to_owned(), is_partial: false };
        let other = Header { journal: "0c".to_owned(), ..new.clone() };
        let journal = Journal::new(path.clone(), new, Arc::new(SystemClock));
        assert_eq!(journal.name().as_deref(), Some("0a"));
        std::fs::remove_file(&path).unwrap();
        let act = JournaledAct::KeyRevoked(ApiKeyId::from_bytes([1; 16]));
        let at = Timestamp::from_millis(1);
        file::append(&path, &other, &[Entry { at, mark: Some(2), act }]).unwrap();
        database.raise_journal_mark("0c", 2).unwrap();
        assert!(!recover_if_older(&journal, &database).unwrap());
        assert_eq!(journal.name().as_deref(), Some("0c"));
    }
}
