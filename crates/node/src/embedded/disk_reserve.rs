//! The disk reserve: a file beside the embedded database that occupies disk space. If other programs fill the disk, the
//! file is deleted. The freed space is enough to continue opening envelopes, revoking keys and housekeeping.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use sealpost_service::PeriodicThread;
use sealpost_storage::{
    Database,
    owned_file::{resolve_links, with_suffix},
};

use crate::files::regular_file;

/// Starts the thread that creates and deletes the reserve file of the embedded database in `file`. At the end of the
/// thread, the reserve file stays.
pub(crate) fn start(
    file: &Path,
    database: Arc<Database>,
    min_free_bytes: u64,
) -> io::Result<PeriodicThread> {
    let size = (min_free_bytes / 4).min(SIZE_MAX);
    let mut keeper = ReserveKeeper {
        file: reserve_file(file),
        size,
        free_to_begin: min_free_bytes.saturating_add(size),
        has_failed: false,
    };
    keeper.poll(&database);
    PeriodicThread::start("disk-reserve", [PERIOD; 2], move |_| keeper.poll(&database))
}

/// Deletes the reserve file of the embedded database in `file` if the disk is almost full. Call before the database is
/// opened: SQLite needs space for its write-ahead log, and possibly no server runs that would delete the reserve.
pub(crate) fn release_if_full(file: &Path) {
    let reserve = reserve_file(file);
    let (Ok(held), Ok(disk)) = (fs::metadata(&reserve), statvfs(&reserve)) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < held.len()
        && let Err(error) = release(&reserve, free)
    {
        tracing::warn!(%error, file = %reserve.display(), "the disk reserve cannot be released");
    }
}

/// Creates the reserve file while enough space is free, and deletes the file when the disk is almost full.
struct ReserveKeeper {
    file: PathBuf,
    size: u64,
    /// Number of bytes that must be free on the disk before the reserve file is created.
    free_to_begin: u64,
    /// True if the last `poll` failed. Only the first of consecutive failures is logged.
    has_failed: bool,
}

impl ReserveKeeper {
    fn poll(&mut self, database: &Database) {
        let done = database.free_bytes().and_then(|free| self.adjust(free.unwrap_or(u64::MAX)));
        if let Err(error) = &done
            && !self.has_failed
        {
            tracing::warn!(%error, file = %self.file.display(), "the disk reserve cannot be kept");
        }
        self.has_failed = done.is_err();
    }

    fn adjust(&self, free: u64) -> io::Result<()> {
        if free < self.size {
            if self.file.exists() {
                release(&self.file, free)?;
            }
        } else if free >= self.free_to_begin && self.size > 0 && !self.is_held() {
            let file = regular_file::open_or_create(File::options().write(true), &self.file)?;
            fallocate(file, FallocateFlags::empty(), 0, self.size)?;
        }
        Ok(())
    }

    fn is_held(&self) -> bool {
        fs::metadata(&self.file).is_ok_and(|file| file.len() >= self.size)
    }
}

/// Deletes the reserve file. `free` is the number of free bytes on the disk before.
fn release(reserve: &Path, free: u64) -> io::Result<()> {
    let reserve_bytes = fs::metadata(reserve)?.len();
    fs::remove_file(reserve)?;
    tracing::warn!(
        free_bytes = free,
        reserve_bytes,
        "the disk is almost full: released the disk reserve; free space soon"
    );
    Ok(())
}

/// Returns the path of the reserve file: the path of the database file without symbolic links, with `.reserve`
/// appended.
fn reserve_file(database: &Path) -> PathBuf {
    with_suffix(&resolve_links(database), ".reserve")
}

/// Maximum size of the reserve file in bytes. The write-ahead log and one checkpoint of the database need less space.
const SIZE_MAX: u64 = 33_554_432;
const PERIOD: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_held_while_space_is_plenty_and_released_when_it_is_short() {
        let folder = tempfile::tempdir().unwrap();
        let file = reserve_file(&folder.path().join("sealpost.db"));
        assert!(file.ends_with("sealpost.db.reserve"));
        let keeper = ReserveKeeper {
            file: file.clone(),
            size: 100_000,
            free_to_begin: 500_000,
            has_failed: false,
        };
        let size = || fs::metadata(&file).ok().map(|file| file.len());
        keeper.adjust(499_999).unwrap();
        assert_eq!(size(), None, "it would use space that is needed");
        keeper.adjust(500_000).unwrap();
        assert_eq!(size(), Some(100_000));
        keeper.adjust(100_000).unwrap();
        assert_eq!(size(), Some(100_000));
        keeper.adjust(99_999).unwrap();
        assert_eq!(size(), None);
        keeper.adjust(200_000).unwrap();
        assert_eq!(size(), None);
        keeper.adjust(600_000).unwrap();
        assert_eq!(size(), Some(100_000));
        // A command has deleted the file, because it could not open the database on the full disk.
        fs::remove_file(&file).unwrap();
        keeper.adjust(600_000).unwrap();
        assert_eq!(size(), Some(100_000));
    }

    #[test]
    fn a_reserve_from_before_a_restart_is_released_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.reserve");
        fs::write(&file, "x").unwrap();
        let (size, free_to_begin) = (10, 20);
        let keeper = ReserveKeeper { file: file.clone(), size, free_to_begin, has_failed: false };
        keeper.adjust(9).unwrap();
        assert!(!file.exists());
    }
}
