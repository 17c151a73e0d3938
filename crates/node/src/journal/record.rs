//! Appends entries (revocations and similar changes) to the journal file of one database. If the file cannot be
//! written, keeps the entries in memory, and tries again later.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};
use sealpost_domain::{
    Clock, Timestamp,
    ports::{JournaledAct, RevocationJournal},
    with_causes,
};

use super::{
    file::{self, JournalError, SearchedMarks},
    line::{Entry, Header},
};

/// The revocation journal of one database.
pub struct Journal {
    pub(super) path: PathBuf,
    /// The header that is written if the journal file must be created.
    pub(super) new: Header,
    /// The name of the journal, from the header of the file. If the file could not be created, the name in `new`.
    /// `None` until the first use.
    name: Mutex<Option<String>>,
    /// True if new entries get [marks](Entry::mark) (transaction numbers). False if the database is older than the
    /// journal: a new mark would make the database look up to date.
    has_marks: AtomicBool,
    /// The part of the file that was searched for the highest [mark](Entry::mark).
    searched: Mutex<SearchedMarks>,
    pub(super) clock: Arc<dyn Clock>,
    gap: Mutex<Option<JournalGap>>,
    pub(super) pending: Mutex<Vec<Entry>>,
    pending_count: AtomicU64,
}

/// The reason why a journal lacks revocations of its database, for example because its disk was replaced. After a
/// restore of the database, these revocations would stay undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalGap {
    /// The file lost entries: its highest [mark](Entry::mark) `newest` is lower than `expected`, a mark that the
    /// database has already reached.
    Lost { newest: u64, expected: u64 },
    /// The database can have revocations from before the journal began.
    Partial,
}

impl JournalGap {
    /// Returns the warning for operators.
    pub(super) fn warning(self, path: &Path) -> String {
        let path = path.display();
        let fault = match self {
            Self::Lost { newest, expected } => {
                format!("lost acts: its newest mark is {newest}, and the database has {expected}")
            }
            Self::Partial => "lacks the first revocations of this database".to_owned(),
        };
        format!(
            "the revocation journal {path} {fault}; a restore could undo revocations: put the former file back, or run \
             `sealpost admin journal complete`"
        )
    }
}

impl Journal {
    pub(super) fn new(path: PathBuf, new: Header, clock: Arc<dyn Clock>) -> Self {
        let (name, searched, gap, pending, pending_count) = Default::default();
        let has_marks = AtomicBool::new(true);
        Self { path, new, name, has_marks, searched, clock, gap, pending, pending_count }
    }

    /// Sets whether later entries get [marks](Entry::mark) (transaction numbers).
    pub(super) fn set_marks(&self, has_marks: bool) {
        self.has_marks.store(has_marks, Ordering::Release);
    }

    /// Returns the highest [mark](Entry::mark) in the file, to which other processes may have appended. Each call reads
    /// only the lines that are new since the previous call.
    pub(super) fn newest_mark(&self) -> Result<u64, JournalError> {
        let mut searched = self.searched.lock();
        *searched = file::search_marks(&self.path, *searched)?;
        Ok(searched.mark)
    }

    /// Returns the name of the journal. `None` if the journal was not used yet.
    pub(super) fn known_name(&self) -> Option<String> {
        self.name.lock().clone()
    }

    fn set_name(&self, header: &Header) {
        let old = self.name.lock().replace(header.journal.clone());
        // Removes the marks of the waiting entries if the name has changed, because these marks belong to the old name.
        if old.as_ref() != Some(&header.journal) {
            self.pending.lock().iter_mut().for_each(|entry| entry.mark = None);
        }
    }

    /// Returns a warning if the file lacks revocations of the database.
    pub(crate) fn gap(&self) -> Option<String> {
        let pending = self.pending();
        if pending > 0 {
            let path = self.path.display();
            return Some(format!(
                "the revocation journal {path} cannot be written and lacks {pending} acts; a restore could undo \
                 revocations: correct the permissions and the free space of its folder"
            ));
        }
        let gap = *self.gap.lock();
        gap.map(|gap| gap.warning(&self.path))
    }

    /// Reads the header of the file again, because another process may have created a new file. If the file is missing,
    /// returns the header for a new file.
    pub(super) fn read_header(&self) -> Result<Header, JournalError> {
        let header = file::header(&self.path)?.unwrap_or_else(|| self.header_of_new_file());
        self.set_name(&header);
        Ok(header)
    }

    /// Checks whether the file lacks revocations of the database. Returns the gap, or `None` if the file is complete.
    /// `expected` is an earlier [mark](Entry::mark) (transaction number) of the database. The present mark can be
    /// missing for a moment: a transaction raises the mark at its commit, and appends to the file afterwards.
    pub(super) fn find_gap(&self, expected: u64) -> Result<Option<JournalGap>, JournalError> {
        let header = self.read_header()?;
        let newest = self.newest_mark()?;
        if newest < expected {
            return Ok(Some(JournalGap::Lost { newest, expected }));
        }
        Ok(header.is_partial.then_some(JournalGap::Partial))
    }

    /// Stores the result of the last comparison with the database: a gap, or `None` if the file is complete.
    pub(super) fn set_gap(&self, gap: Option<JournalGap>) {
        *self.gap.lock() = gap;
    }

    /// Returns the header for a file that must be created. If an earlier file has vanished or could not be created, the
    /// new file is marked as partial, and keeps the name of the journal. The database stores the mark of the journal
    /// under this name.
    fn header_of_new_file(&self) -> Header {
        match self.known_name() {
            Some(journal) => Header { journal, is_partial: true, ..self.new.clone() },
            None => self.new.clone(),
        }
    }

    /// Returns the path of the journal file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of entries that are not in the file yet.
    pub fn pending(&self) -> u64 {
        self.pending_count.load(Ordering::Acquire)
    }

    /// Tries again to write the entries that are not in the file yet.
    pub(super) fn write_pending(&self) {
        let pending = self.pending.lock();
        if !pending.is_empty() {
            self.write(pending);
        }
    }

    fn write(&self, mut pending: MutexGuard<'_, Vec<Entry>>) {
        match file::append(&self.path, &self.header_of_new_file(), &pending) {
            Ok(()) => pending.clear(),
            Err(fault) => self.log(&fault),
        }
        self.pending_count
            .store(u64::try_from(pending.len()).unwrap_or(u64::MAX), Ordering::Release);
    }

    fn log(&self, fault: &JournalError) {
        tracing::error!(
            error = with_causes(fault),
            file = %self.path.display(),
            "the revocation journal cannot be written; a restore of the database could undo revocations"
        );
    }
}

impl RevocationJournal for Journal {
    fn name(&self) -> Option<String> {
        if !self.has_marks.load(Ordering::Acquire) {
            return None;
        }
        if self.known_name().is_none() {
            match file::ensure(&self.path, &self.new) {
                Ok(header) => self.set_name(&header),
                Err(fault) => {
                    self.log(&fault);
                    // The existing file may be read-only. Its name stays the name of the journal.
                    let header = file::header(&self.path).ok().flatten();
                    self.set_name(header.as_ref().unwrap_or(&self.new));
                }
            }
        }
        self.known_name()
    }

    fn append(&self, mark: Option<u64>, server_time: Option<Timestamp>, acts: &[JournaledAct]) {
        let at = server_time.unwrap_or_else(|| self.clock.now());
        let mut pending = self.pending.lock();
        pending.extend(acts.iter().map(|act| Entry { at, mark, act: *act }));
        let surplus = pending.len().saturating_sub(PENDING_MAX);
        if surplus > 0 {
            tracing::error!(
                acts = surplus,
                "dropping the oldest acts that wait for the revocation journal"
            );
            pending.drain(..surplus);
        }
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

/// Maximum number of entries that wait in memory because the file cannot be written: about 15 MB.
const PENDING_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use std::fs;

    use sealpost_domain::ApiKeyId;

    use super::*;
    use crate::clock::SystemClock;

    fn journal(path: PathBuf) -> Journal {
        let new = Header { journal: "0a".to_owned(), database: "0b".to_owned(), is_partial: false };
        Journal::new(path, new, Arc::new(SystemClock))
    }

    struct FixedClock(i64);

    impl Clock for FixedClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.0)
        }
    }

    fn revoked(key: u8) -> JournaledAct {
        JournaledAct::KeyRevoked(ApiKeyId::from_bytes([key; 16]))
    }

    #[test]
    fn acts_that_cannot_be_written_wait_and_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("folder");
        fs::write(&below, "a file in the place of the folder").unwrap();
        let journal = journal(below.join("revocations.log"));
        // The journal has a name even without a file. Commits raise the mark of this name in the database, so that the
        // database does not look as if it had no acts.
        assert_eq!(journal.name().as_deref(), Some("0a"));
        journal.append(Some(1), None, &[revoked(1)]);
        journal.append(Some(2), None, &[revoked(2)]);
        assert_eq!(journal.pending(), 2);
        assert!(journal.gap().unwrap().contains("lacks 2 acts"), "{:?}", journal.gap());
        fs::remove_file(&below).unwrap();
        journal.write_pending();
        assert_eq!((journal.pending(), journal.gap()), (0, None));
        journal.append(Some(3), None, &[revoked(3)]);
        let content = file::read(journal.path()).unwrap().unwrap();
        let acts: Vec<_> = content.entries.iter().map(|entry| entry.act).collect();
        assert_eq!(acts, [revoked(1), revoked(2), revoked(3)]);
        assert!(content.header.is_partial);
    }

    #[test]
    fn acts_for_a_file_of_another_process_have_no_marks_of_another_journal() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("folder");
        fs::write(&below, "a file in the place of the folder").unwrap();
        let journal = journal(below.join("revocations.log"));
        journal.append(Some(7), None, &[revoked(1)]);
        fs::remove_file(&below).unwrap();
        let other = Header { journal: "0c".to_owned(), ..journal.new.clone() };
        file::ensure(journal.path(), &other).unwrap();
        journal.read_header().unwrap();
        journal.write_pending();
        assert_eq!(journal.newest_mark().unwrap(), 0);
        let content = file::read(journal.path()).unwrap().unwrap();
        assert_eq!((content.header, content.entries[0].act), (other, revoked(1)));
    }

    #[test]
    fn a_journal_without_marks_has_no_name_for_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path().join("revocations.log"));
        journal.set_marks(false);
        assert_eq!((journal.name(), journal.known_name()), (None, None));
        journal.set_marks(true);
        assert_eq!(journal.name().as_deref(), Some("0a"));
        journal.set_marks(false);
        assert_eq!((journal.name(), journal.known_name().as_deref()), (None, Some("0a")));
        journal.append(Some(7), None, &[revoked(1)]);
        journal.append(Some(6), None, &[revoked(2)]);
        assert_eq!(journal.newest_mark().unwrap(), 7);
    }

    #[test]
    fn acts_of_nodes_with_different_clocks_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let key = ApiKeyId::from_bytes([1; 16]);
        let acts = [JournaledAct::KeyActivated(key), JournaledAct::KeyDeactivated(key)];
        let contents = [(900, 5, acts[0]), (100, 6, acts[1])].map(|(clock, server_time, act)| {
            let path = folder.path().join(format!("{clock}.log"));
            let journal = Journal { clock: Arc::new(FixedClock(clock)), ..journal(path) };
            journal.append(Some(1), Some(Timestamp::from_millis(server_time)), &[act]);
            file::read(journal.path()).unwrap().unwrap()
        });
        assert_eq!(file::merged_acts(&contents), acts);
    }
}
