//! Writes the changed pages of a file to the disk at a limited rate.

use std::{
    fs::File,
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::fs::{Advice, fadvise};

/// A file whose changed pages are written to the disk bit by bit. A sync of many changed pages would occupy the disk, and
/// every commit would wait for it.
///
/// The file stays open until the process ends: closing it would release the locks that SQLite holds on the same file
/// (POSIX, fcntl, advisory record locks).
#[derive(Debug, Clone, Copy)]
pub(crate) struct GradualFlush(&'static File);

impl GradualFlush {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(Box::leak(Box::new(File::open(path)?))))
    }

    /// Starts to write all changed pages, a part at a time. `go_on` is called between the parts; false ends the work.
    pub(crate) fn run(self, go_on: impl Fn() -> bool) -> io::Result<()> {
        let length = self.0.metadata()?.len();
        let part = std::num::NonZeroU64::MIN.saturating_add(PART_BYTES - 1);
        let mut offset = 0;
        while offset < length && go_on() {
            let began = Instant::now();
            // Linux starts to write the changed pages of the range, and drops the others from its cache.
            fadvise(self.0, offset, Some(part), Advice::DontNeed)?;
            offset += PART_BYTES;
            thread::sleep(PART_EVERY.saturating_sub(began.elapsed()));
        }
        Ok(())
    }
}

/// 100 MB a second.
const PART_BYTES: u64 = 4_000_000;
const PART_EVERY: Duration = Duration::from_millis(40);
