//! Writes the changed pages of a file to the disk at a limited rate.

use std::{fs::File, io, num::NonZeroU64, path::Path, thread, time::Duration};

use rustix::fs::{Advice, fadvise};

/// A file whose changed pages are written to the disk at a limited rate. A sync of many changed pages at once would
/// occupy the disk, and every commit would wait for this sync.
///
/// The file stays open until the process ends. Closing the file would release the locks that SQLite holds on the same
/// file (POSIX, fcntl, advisory record locks).
#[derive(Debug, Clone, Copy)]
pub(crate) struct GradualFlush(&'static File);

impl GradualFlush {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(Box::leak(Box::new(File::open(path)?))))
    }

    /// Makes the operating system write all changed pages to the disk, a part of the file at a time, at about 100 MB
    /// per second. Does not wait until the pages are on the disk. `changed` is the total size of these pages in bytes.
    /// Calls `go_on` before each part, and ends early if `go_on` returns false.
    pub(crate) fn run(self, changed: u64, go_on: impl Fn() -> bool) -> io::Result<()> {
        let length = self.0.metadata()?.len();
        let parts = length.div_ceil(PART_BYTES).max(1);
        let pause = Duration::from_micros(changed.div_ceil(BYTES_PER_MICROSECOND) / parts);
        for part in 0..parts {
            if !go_on() {
                break;
            }
            // Linux starts to write the changed pages of the range, and drops the unchanged pages of the range from its
            // cache.
            fadvise(self.0, part * PART_BYTES, NonZeroU64::new(PART_BYTES), Advice::DontNeed)?;
            thread::sleep(pause);
        }
        Ok(())
    }
}

/// Returns the total size in bytes of the pages that this thread has changed so far. The difference of two results is
/// the `changed` of [`GradualFlush::run`]. `None` if the operating system does not provide the number.
pub(crate) fn bytes_changed_by_thread() -> Option<u64> {
    let counters = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    counters.lines().find_map(|line| line.strip_prefix("write_bytes: "))?.parse().ok()
}

const PART_BYTES: u64 = 4_000_000;
const BYTES_PER_MICROSECOND: u64 = 100;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_changed_bytes_of_a_thread_are_counted_and_flushed() {
        let Some(before) = bytes_changed_by_thread() else { return };
        // The folder of the build is on a disk, unlike some folders for temporary files.
        let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; 1_000_000]).unwrap();
        let changed = bytes_changed_by_thread().unwrap() - before;
        assert!((1_000_000..2_000_000).contains(&changed), "{changed}");
        let flush = GradualFlush::open(file.path()).unwrap();
        flush.run(changed, || true).unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap().len(), 1_000_000);
    }
}
