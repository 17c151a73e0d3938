//! Reads, extends and compacts the file of a revocation journal. Several processes may use one file: each holds the
//! lock of the file while it writes.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
    thread,
    time::Duration,
};

use sealpost_domain::{Timestamp, ports::JournaledAct};
use sealpost_storage::owned_file;

use super::line::{Entry, Header};
use crate::files::regular_file;

/// The readable content of a journal file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JournalContent {
    pub(crate) header: Header,
    /// The entries in the order of the file.
    pub(crate) entries: Vec<Entry>,
    /// Number of lines that are damaged or contain an unknown kind of change.
    pub(crate) damaged: usize,
}

/// The first part of a journal file, and its highest mark. Later searches for a higher mark skip this part. A mark is
/// the number of a transaction with entries in the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SearchedMarks {
    /// Length of the part in bytes. The part ends with a complete line.
    end: u64,
    /// The highest mark; 0 if the part has no mark.
    pub(crate) mark: u64,
}

/// The reason why an existing journal file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    #[error("the file cannot be read or written")]
    Unusable(#[from] io::Error),
    #[error("the first line is not the header of a revocation journal of this version")]
    NoJournal,
}

impl JournalContent {
    /// Returns the highest mark of the entries; 0 if no entry has a mark. A mark is the number of a transaction with
    /// entries in the journal.
    pub(crate) fn last_mark(&self) -> u64 {
        self.entries.iter().filter_map(|entry| entry.mark).max().unwrap_or(0)
    }

    /// Returns the entries in the order of their commits, which is the order of their marks (transaction numbers).
    /// Concurrent processes can append in another order. Sorts an entry without a mark by the highest mark that
    /// precedes it in the file. Raises each time to at least that of the predecessor, so that [`merged_acts`] keeps
    /// this order.
    pub(crate) fn in_commit_order(&self) -> Vec<Entry> {
        let mut highest = 0;
        let mut placed: Vec<(u64, Entry)> = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            highest = entry.mark.unwrap_or(0).max(highest);
            placed.push((entry.mark.unwrap_or(highest), *entry));
        }
        placed.sort_by_key(|(place, _)| *place);
        let mut latest = Timestamp::from_millis(i64::MIN);
        let in_time = |(_, entry): (u64, Entry)| {
            latest = latest.max(entry.at);
            Entry { at: latest, ..entry }
        };
        placed.into_iter().map(in_time).collect()
    }

    /// Splits the entries into those that are kept, and those that are older than `retention`. Both lists have the
    /// order of the file. `clocks` are the times of the node and of the database server.
    ///
    /// A wrong clock must not remove an entry too early. So the age of an entry is measured at the earliest of three
    /// times: the two clocks, and the newest time in the file.
    fn split_expired(
        &self,
        clocks: [Timestamp; 2],
        retention: Duration,
    ) -> (Vec<Entry>, Vec<Entry>) {
        let [node, server] = clocks;
        let newest = self.entries.iter().map(|entry| entry.at).max().unwrap_or(node);
        let keep_from = newest.min(node).min(server).minus(retention);
        let mut reached = Timestamp::from_millis(i64::MIN);
        // Treats an entry as at least as new as the entries before it, because its time may come from a node whose
        // clock is behind. Ignores times after both clocks here: one such time would keep all later entries
        // permanently.
        self.entries.iter().copied().partition(|entry| {
            if entry.at <= node.max(server) {
                reached = reached.max(entry.at);
            }
            entry.at.max(reached) >= keep_from
        })
    }
}

/// Returns the changes of all journals, in the order in which a restore applies them. Changes of different journals are
/// ordered by time. Several journals exist only with a database server. Its clock gives all times, so the times of
/// different journals can be compared.
pub(crate) fn merged_acts(journals: &[JournalContent]) -> Vec<JournaledAct> {
    let mut entries: Vec<_> = journals.iter().flat_map(JournalContent::in_commit_order).collect();
    entries.sort_by_key(|entry| entry.at);
    entries.into_iter().map(|entry| entry.act).collect()
}

/// Reads a journal file. `None` if the file does not exist or has no complete header.
pub(crate) fn read(path: &Path) -> Result<Option<JournalContent>, JournalError> {
    let mut bytes = Vec::new();
    match regular_file::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) if Header::is_unfinished(&bytes) => Ok(None),
        Ok(_) => parse(&bytes).map(Some).ok_or(JournalError::NoJournal),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Searches the complete lines after the part `searched` for a higher mark (transaction number). Returns the part up to
/// the last of these lines, with its highest mark. Searches the whole file if the file is shorter than `searched`, for
/// example after a compaction. Returns an empty part with mark 0 if the file does not exist.
pub(crate) fn search_marks(
    path: &Path,
    searched: SearchedMarks,
) -> Result<SearchedMarks, JournalError> {
    let mut file = match regular_file::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(SearchedMarks::default());
        }
        opened => opened?,
    };
    let is_shorter = file.metadata()?.len() < searched.end;
    let SearchedMarks { end, mark } = if is_shorter { SearchedMarks::default() } else { searched };
    file.seek(SeekFrom::Start(end))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let lines = bytes.get(..complete).unwrap_or_default().split(|byte| *byte == b'\n');
    let marks = lines.filter_map(|line| Entry::parse(std::str::from_utf8(line).ok()?)?.mark);
    let read = u64::try_from(complete).unwrap_or(u64::MAX);
    Ok(SearchedMarks { end: end.saturating_add(read), mark: marks.fold(mark, u64::max) })
}

/// Returns the header of the file. `None` if the file does not exist or has no complete header.
pub(crate) fn header(path: &Path) -> Result<Option<Header>, JournalError> {
    let mut first = Vec::new();
    match regular_file::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?.take(FIRST_LINE_MAX).read_to_end(&mut first)?,
    };
    if Header::is_unfinished(&first) { Ok(None) } else { parse_header(&first).map(Some) }
}

fn parse_header(first: &[u8]) -> Result<Header, JournalError> {
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let header = std::str::from_utf8(line).ok().and_then(Header::parse);
    header.ok_or(JournalError::NoJournal)
}

/// Creates the file if it is missing. Returns the header of the file, which another process may have created first.
pub(crate) fn ensure(path: &Path, new: &Header) -> Result<Header, JournalError> {
    let (mut file, header) = open(path, new)?;
    file.flush()?;
    Ok(header)
}

/// Appends entries to the journal file, and waits until they are on the disk. Creates a missing file with the header
/// `new`. If another process has created the file with another journal name, omits the marks of the entries, because
/// the marks belong to the name in `new`.
pub(crate) fn append(path: &Path, new: &Header, entries: &[Entry]) -> Result<(), JournalError> {
    let (mut file, header) = open(path, new)?;
    let is_own = header.journal == new.journal;
    // A crash may have left a line without its end. The line end separates it from the new lines.
    let mut lines = if ends_with_line_end(&mut file)? { String::new() } else { "\n".to_owned() };
    let marked = |entry: &Entry| Entry { mark: entry.mark.filter(|_| is_own), ..*entry };
    lines.extend(entries.iter().map(|entry| marked(entry).to_line()));
    file.write_all(lines.as_bytes())?;
    file.sync_all()?;
    Ok(())
}

/// Removes entries that are older than `retention`, and returns their number. Keeps the highest mark (transaction
/// number) in the file. Renames the previous file to a name with the extension `.1`. Does nothing if no entry can be
/// removed. `clocks` are the times of the node and of the database server.
pub(crate) fn compact(
    path: &Path,
    clocks: [Timestamp; 2],
    retention: Duration,
) -> Result<usize, JournalError> {
    let Some(content) = read(path)? else { return Ok(0) };
    if content.split_expired(clocks, retention).1.is_empty() {
        return Ok(0);
    }
    let mut removed = 0;
    replace(path, &content.header, |content| {
        let (text, count) = compacted(content, clocks, retention);
        removed = count;
        text
    })?;
    Ok(removed)
}

/// Adds the missing entries to the journal, and removes the word `partial` from its header. Creates the file if it is
/// missing.
pub(crate) fn complete(path: &Path, new: &Header, entries: &[Entry]) -> Result<(), JournalError> {
    replace(path, new, |content| {
        let header = Header { is_partial: false, ..content.header.clone() };
        let entries = content.entries.iter().chain(entries).map(|entry| entry.to_line());
        std::iter::once(header.to_line()).chain(entries).collect()
    })
}

/// Replaces the content of the file by the result of `change`, while no other process writes to the file. Renames the
/// previous file to a name with the extension `.1`. Does nothing if the content would stay the same.
fn replace(
    path: &Path,
    new: &Header,
    change: impl FnOnce(&JournalContent) -> String,
) -> Result<(), JournalError> {
    let (mut locked, _) = open(path, new)?;
    locked.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    locked.read_to_end(&mut bytes)?;
    let text = change(&parse(&bytes).ok_or(JournalError::NoJournal)?);
    if text.as_bytes() == bytes {
        return Ok(());
    }
    Ok(owned_file::replace(path, |file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        let old = owned_file::with_suffix(path, ".1");
        owned_file::remove_if_present(&old)?;
        fs::hard_link(path, &old)
    })?)
}

/// Returns the text of the file without expired entries, and the number of removed entries. If an expired entry has the
/// highest mark (transaction number), replaces this entry by one that only ends sessions, to keep the mark.
fn compacted(
    content: &JournalContent,
    clocks: [Timestamp; 2],
    retention: Duration,
) -> (String, usize) {
    let last_mark = content.last_mark();
    let (kept, expired) = content.split_expired(clocks, retention);
    let marked = expired.iter().find(|entry| entry.mark == Some(last_mark));
    let marked = marked.map(|entry| Entry { act: JournaledAct::SessionsEnded, ..*entry });
    let mut text = content.header.to_line();
    text.extend(marked.iter().chain(&kept).map(|entry| entry.to_line()));
    let removed = expired.iter().filter(|entry| marked != Some(**entry)).count();
    (text, removed)
}

fn parse(bytes: &[u8]) -> Option<JournalContent> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let header = Header::parse(std::str::from_utf8(lines.next()?).ok()?)?;
    let (mut entries, mut damaged) = (Vec::new(), 0_usize);
    for line in lines.filter(|line| !line.is_empty()) {
        match std::str::from_utf8(line).ok().and_then(Entry::parse) {
            Some(entry) => entries.push(entry),
            None => damaged = damaged.saturating_add(1),
        }
    }
    Some(JournalContent { header, entries, damaged })
}

/// Opens and locks the file at `path`, and writes the header into a new file or over an unfinished header.
fn open(path: &Path, new: &Header) -> Result<(File, Header), JournalError> {
    loop {
        // An error is ignored here, because the next line fails with the same cause.
        drop(owned_file::create_folder(&owned_file::folder_of(path)));
        let mut file = regular_file::open_or_create(&mut options(), path)?;
        lock(&file)?;
        if !is_at(&file, path)? {
            // Opens the file again: another process replaced the file before this process had the lock.
            continue;
        }
        let mut first = Vec::new();
        (&mut file).take(FIRST_LINE_MAX).read_to_end(&mut first)?;
        if Header::is_unfinished(&first) {
            file.set_len(0)?;
            file.write_all(new.to_line().as_bytes())?;
            file.sync_all()?;
            owned_file::sync_folder_of(path)?;
            return Ok((file, new.clone()));
        }
        return Ok((file, parse_header(&first)?));
    }
}

fn options() -> OpenOptions {
    let mut options = File::options();
    options.read(true).append(true);
    options
}

/// Waits for the lock of the file. Fails after about a second without the lock, because commits wait for this call.
fn lock(file: &File) -> io::Result<()> {
    for _ in 1..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
        }
    }
    file.try_lock().map_err(io::Error::from)
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(at) => file.metadata().map(|own| (own.dev(), own.ino()) == (at.dev(), at.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn ends_with_line_end(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

const FIRST_LINE_MAX: u64 = 512;
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::{prelude::*, sample::Index};
    use sealpost_domain::ApiKeyId;

    use super::*;

    fn header() -> Header {
        Header { journal: "0a".to_owned(), database: "0b".to_owned(), is_partial: false }
    }

    fn revoked(at: i64, mark: Option<u64>, key: u8) -> Entry {
        let act = JournaledAct::KeyRevoked(ApiKeyId::from_bytes([key; 16]));
        Entry { at: Timestamp::from_millis(at), mark, act }
    }

    /// Removes the entries from before `keep_from` (in milliseconds), and returns their number.
    fn compact_at(path: &Path, keep_from: i64) -> usize {
        compact(path, [Timestamp::from_millis(keep_from); 2], Duration::ZERO).unwrap()
    }

    fn scene() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("revocations.log");
        (folder, path)
    }

    #[test]
    fn appended_entries_are_read_in_order_and_only_the_owner_can_read_them() {
        let (_folder, path) = scene();
        assert_eq!(read(&path).unwrap(), None);
        let entries = [revoked(1, Some(1), 1), revoked(2, None, 2), revoked(3, Some(2), 3)];
        append(&path, &header(), &entries[..1]).unwrap();
        append(&path, &header(), &entries[1..]).unwrap();
        let content = read(&path).unwrap().unwrap();
        assert_eq!((&content.header, content.damaged), (&header(), 0));
        assert_eq!((&content.entries[..], content.last_mark()), (&entries[..], 2));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_first_process_decides_the_header() {
        let (_folder, path) = scene();
        let other = Header { journal: "0c".to_owned(), ..header() };
        assert_eq!(ensure(&path, &header()).unwrap(), header());
        assert_eq!(ensure(&path, &other).unwrap(), header());
    }

    #[test]
    fn an_unfinished_header_is_replaced() {
        let (_folder, path) = scene();
        let line = Header { is_partial: true, ..header() }.to_line();
        for length in 0..line.len() {
            fs::write(&path, &line.as_bytes()[..length]).unwrap();
            assert_eq!(read(&path).unwrap(), None, "{length} bytes");
            assert_eq!(super::header(&path).unwrap(), None, "{length} bytes");
            assert_eq!(ensure(&path, &header()).unwrap(), header(), "{length} bytes");
            assert_eq!(fs::read_to_string(&path).unwrap(), header().to_line());
        }
    }

    #[test]
    fn a_line_without_its_end_does_not_damage_the_next_line() {
        let (_folder, path) = scene();
        append(&path, &header(), &[revoked(1, Some(1), 1)]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for (cut, damaged) in [(1, 0), (5, 1)] {
            fs::write(&path, &text.as_bytes()[..text.len() - cut]).unwrap();
            append(&path, &header(), &[revoked(2, Some(2), 2)]).unwrap();
            let content = read(&path).unwrap().unwrap();
            assert_eq!((content.damaged, content.entries.len()), (damaged, 2 - damaged));
            assert_eq!(content.entries.last(), Some(&revoked(2, Some(2), 2)));
        }
    }

    #[test]
    fn marks_are_searched_in_new_lines() {
        let (_folder, path) = scene();
        let search = |searched| search_marks(&path, searched).unwrap();
        let first = search(SearchedMarks::default());
        assert_eq!(first, SearchedMarks::default());
        append(&path, &header(), &[revoked(1, Some(9), 1), revoked(2, None, 2)]).unwrap();
        let second = search(first);
        assert_eq!((second.mark, search(second)), (9, second));
        append(&path, &header(), &[revoked(3, Some(8), 3), revoked(4, Some(10), 4)]).unwrap();
        let whole = fs::read(&path).unwrap();
        let third = search(second);
        assert_eq!((third.mark, usize::try_from(third.end)), (10, Ok(whole.len())));
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(search(second).mark, 9);
        compact_at(&path, 4);
        assert_eq!(search(third).mark, 10);
    }

    #[test]
    fn a_file_of_another_kind_is_refused_and_stays() {
        let (_folder, path) = scene();
        fs::write(&path, "mine\n").unwrap();
        assert!(matches!(read(&path), Err(JournalError::NoJournal)));
        let refused = append(&path, &header(), &[revoked(1, None, 1)]);
        assert!(matches!(refused, Err(JournalError::NoJournal)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine\n");
    }

    #[test]
    fn entries_are_ordered_by_their_commits() {
        let entries = vec![revoked(5, Some(2), 2), revoked(4, Some(1), 1), revoked(3, None, 3)];
        let content = JournalContent { header: header(), entries, damaged: 0 };
        let marks: Vec<_> = content.in_commit_order().iter().map(|entry| entry.mark).collect();
        assert_eq!(marks, [Some(1), Some(2), None]);
        let later = JournalContent { entries: vec![revoked(6, Some(1), 4)], ..content.clone() };
        let keys = merged_acts(&[later, content]);
        let expected = [1, 2, 3, 4].map(|key| revoked(0, None, key).act);
        assert_eq!(keys, expected);
    }

    #[test]
    fn a_compaction_keeps_new_acts_the_highest_mark_and_the_old_file() {
        let (_folder, path) = scene();
        let entries = [revoked(1, Some(1), 1), revoked(2, Some(9), 2), revoked(30, None, 3)];
        append(&path, &header(), &entries).unwrap();
        let whole = fs::read(&path).unwrap();
        assert_eq!(compact_at(&path, 1), 0);
        assert_eq!(fs::read(&path).unwrap(), whole);
        assert_eq!(compact_at(&path, 20), 2);
        let content = read(&path).unwrap().unwrap();
        assert_eq!((content.last_mark(), content.entries.len()), (9, 2));
        assert_eq!(content.entries[1], entries[2]);
        assert!(matches!(content.entries[0].act, JournaledAct::SessionsEnded));
        assert_eq!(fs::read(owned_file::with_suffix(&path, ".1")).unwrap(), whole);
        assert_eq!(compact_at(&path, 20), 0);
        assert_eq!(fs::read(owned_file::with_suffix(&path, ".1")).unwrap(), whole);
        append(&path, &header(), &entries[..1]).unwrap();
        assert_eq!(read(&path).unwrap().unwrap().entries.len(), 3);
    }

    #[test]
    fn a_clock_that_is_ahead_removes_no_entry() {
        let (_folder, path) = scene();
        let entries = [revoked(100, Some(1), 1), revoked(110, Some(2), 2)];
        append(&path, &header(), &entries).unwrap();
        let retention = Duration::from_millis(20);
        for clocks in [[900, 115], [115, 900], [900, 900]] {
            let clocks = clocks.map(Timestamp::from_millis);
            assert_eq!(compact(&path, clocks, retention).unwrap(), 0, "{clocks:?}");
        }
        append(&path, &header(), &[revoked(125, Some(3), 3)]).unwrap();
        let clocks = [900, 900].map(Timestamp::from_millis);
        assert_eq!(compact(&path, clocks, retention).unwrap(), 1);
        assert_eq!(read(&path).unwrap().unwrap().entries[0], entries[1]);
    }

    #[test]
    fn entries_of_a_node_with_a_clock_behind_are_kept_as_long_as_the_entry_before() {
        let (_folder, path) = scene();
        // The third entry is of a clock ahead. It does not make the entries after it newer.
        let entries = [(1, 100), (2, 5), (3, 9_000), (4, 6), (5, 200)]
            .map(|(key, at)| revoked(at, Some(u64::from(key)), key));
        append(&path, &header(), &entries).unwrap();
        assert_eq!(compact_at(&path, 100), 0);
        assert_eq!(compact_at(&path, 101), 3);
        assert_eq!(read(&path).unwrap().unwrap().entries, [entries[2], entries[4]]);
    }

    proptest! {
        #[test]
        fn damage_never_changes_an_act(
            entries in prop::collection::vec(super::super::line::tests::any_entry(), 1..8),
            at in any::<Index>(),
            with in any::<u8>(),
        ) {
            let mut bytes = header().to_line().into_bytes();
            let start = bytes.len();
            bytes.extend(entries.iter().flat_map(|entry| entry.to_line().into_bytes()));
            let at = start + at.index(bytes.len() - start);
            bytes[at] = with;
            let content = parse(&bytes).unwrap();
            prop_assert!(content.entries.iter().all(|entry| entries.contains(entry)));
            prop_assert!(content.entries.len() + 2 >= entries.len());
        }
    }
}
