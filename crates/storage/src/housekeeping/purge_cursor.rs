//! The positions at which the next deletions of expired rows continue.

use std::{collections::HashMap, ops::RangeInclusive};

use parking_lot::Mutex;
use sealpost_domain::Timestamp;

use crate::query::time_position::TimePosition;

/// The time up to which the expired rows of each table are deleted. All clones of a [`Database`](crate::Database) share
/// the cursor.
///
/// A deletion starts at this time, because new rows have later times. Once an hour, a deletion starts from the
/// beginning instead, to find rows that nodes with wrong clocks have stored with earlier times.
#[derive(Debug, Default)]
pub(crate) struct PurgeCursor(Mutex<HashMap<&'static str, TimePosition>>);

impl PurgeCursor {
    /// Returns the range of times, in milliseconds, in which the next deletion searches a table. The range ends
    /// directly before `before`.
    pub(crate) fn expired(&self, table: &'static str, before: Timestamp) -> RangeInclusive<i64> {
        let mut positions = self.0.lock();
        positions.entry(table).or_default().range(before.as_millis() - 1, FULL_EVERY_MS)
    }

    /// Records the time of the last deleted row of each table, after the commit.
    pub(crate) fn purged(&self, tables: &[(&'static str, i64)]) {
        if tables.is_empty() {
            return;
        }
        let mut positions = self.0.lock();
        for (table, last) in tables {
            positions.entry(table).or_default().next = *last;
        }
    }
}

const FULL_EVERY_MS: i64 = 3_600_000;
