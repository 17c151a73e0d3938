//! Names the processes that read an SQLite database.

use std::{collections::BTreeSet, fs, os::linux::fs::MetadataExt as _, path::Path, process};

/// Returns the other processes that have a read transaction on this database, such as `process 4711 (sqlite3)`. Finds
/// them by their locks on the file `-shm`, in `/proc/locks`. Returns an empty list if the file `-shm` does not exist.
pub(crate) fn readers(database: &Path) -> Vec<String> {
    let shared_memory = format!("{}-shm", database.display());
    let Ok(inode) = fs::metadata(shared_memory).map(|file| file.st_ino()) else {
        return Vec::new();
    };
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let pids: BTreeSet<u32> = locks.lines().filter_map(|line| reader(line, inode)).collect();
    pids.into_iter().filter(|pid| *pid != process::id()).map(named).collect()
}

/// Returns the id of the process that holds the lock in a line of `/proc/locks`. `None` unless the lock is on a read
/// mark of the file with this inode. A line looks like this: `5: POSIX  ADVISORY  READ 4711 fe:00:131 124 124`.
fn reader(line: &str, inode: u64) -> Option<u32> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let [_, "POSIX", _, _, pid, file, from, to] = *fields else { return None };
    let is_file = file.rsplit(':').next()?.parse() == Ok(inode);
    let (from, to) = (from.parse::<u64>().ok()?, to.parse::<u64>().ok()?);
    let pid = pid.parse().ok()?;
    (is_file && from <= READ_MARKS_END && to >= READ_MARKS_START).then_some(pid)
}

fn named(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("process {pid} ({})", name.trim())
}

/// The bytes of the file `-shm` that readers lock (SQLite, walformat, 2.3.1).
const READ_MARKS_START: u64 = 123;
const READ_MARKS_END: u64 = 127;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_on_read_marks_of_the_file_count() {
        let read = |line: &str| reader(line, 131);
        assert_eq!(read("5: POSIX  ADVISORY  READ 4711 fe:00:131 124 124"), Some(4711));
        assert_eq!(read("5: POSIX  ADVISORY  READ 4711 fe:00:131 128 128"), None, "another lock");
        assert_eq!(read("5: POSIX  ADVISORY  READ 4711 fe:00:132 124 124"), None, "another file");
        assert_eq!(read("5: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF"), None);
        assert_eq!(read("5: -> POSIX ADVISORY WRITE 4711 fe:00:131 124 124"), None, "it waits");
    }
}
