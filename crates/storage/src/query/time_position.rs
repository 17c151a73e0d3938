//! The position from which a repeated search continues, in the order of a time column.

use std::ops::RangeInclusive;

/// The time at which the next search of a table starts (`next`), and the time of the last search from the beginning
/// (`full_at`). Both are in milliseconds since the Unix epoch.
///
/// Usually no rows are left to find before `next`. PostgreSQL keeps the index entries of removed rows while another
/// session has an open snapshot. A search that starts at `next` does not read these entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimePosition {
    pub(crate) next: i64,
    full_at: i64,
}

impl Default for TimePosition {
    fn default() -> Self {
        Self { next: i64::MIN, full_at: i64::MIN }
    }
}

impl TimePosition {
    /// Returns the range of times to search: from `next` to `now`. If the last search from the beginning is at least
    /// `every_ms` ago, or if the clock was set back, the range starts at the beginning.
    pub(crate) fn range(&mut self, now: i64, every_ms: i64) -> RangeInclusive<i64> {
        let is_full = now < self.full_at || now.saturating_sub(self.full_at) >= every_ms;
        if is_full {
            *self = Self { next: i64::MIN, full_at: now };
        }
        self.next..=now
    }
}
