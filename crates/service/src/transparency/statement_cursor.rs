//! Stores the position from which the next search for pending [statements](sealpost_domain::ports::StatementKind)
//! begins. A pending statement is stored, but not in the transparency log yet.

use std::time::Duration;

use parking_lot::Mutex;
use sealpost_domain::Timestamp;

/// The id up to which all statements have been appended to the log. The next search begins after this id.
///
/// PostgreSQL keeps the index entries of appended statements while another session has an open snapshot. Without the
/// cursor, each search would read all these index entries. In a measurement without the cursor, with 64 busy
/// connections and two searches a second, a search took 250 milliseconds after 20 minutes.
#[derive(Default)]
pub(crate) struct StatementCursor(Mutex<Positions>);

struct Positions {
    after: i64,
    /// The id of the newest statement at the time `newest_at`.
    newest: i64,
    newest_at: Timestamp,
    /// The time of the last search from the beginning.
    full_at: Timestamp,
}

impl Default for Positions {
    fn default() -> Self {
        let never = Timestamp::from_millis(0);
        Self { after: 0, newest: 0, newest_at: never, full_at: never }
    }
}

impl StatementCursor {
    /// Returns the id after which a search begins. Returns 0 once a minute, so that the search finds statements of
    /// transactions that took longer than [`SLACK`]. Such a statement can have an id below the cursor.
    pub(super) fn after(&self, now: Timestamp) -> i64 {
        let mut positions = self.0.lock();
        if now.abs_diff(positions.full_at) >= FULL_EVERY {
            positions.full_at = now;
            return 0;
        }
        positions.after
    }

    /// Records that all statements found by a search have been appended. `newest` is the id of the newest statement
    /// before the search.
    pub(super) fn searched(&self, now: Timestamp, newest: i64) {
        let mut positions = self.0.lock();
        if now.abs_diff(positions.newest_at) >= SLACK {
            let after = positions.newest.min(newest);
            *positions = Positions { after, newest, newest_at: now, ..*positions };
        }
    }
}

/// Minimum age of a newest id before the cursor moves to this id. A statement gets its id before its transaction
/// commits, so a statement with a lower id can appear later. This time is longer than most transactions, so that the
/// cursor does not skip such statements.
const SLACK: Duration = Duration::from_secs(10);
const FULL_EVERY: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_begins_after_what_was_the_newest_ten_seconds_ago() {
        let cursor = StatementCursor::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + 1000 * seconds);
        assert_eq!(cursor.after(at(0)), 0);
        cursor.searched(at(0), 70);
        for seconds in 1..10 {
            cursor.searched(at(seconds), 70 + seconds);
            assert_eq!(cursor.after(at(seconds)), 0, "transactions may have lower ids");
        }
        cursor.searched(at(10), 80);
        assert_eq!(cursor.after(at(11)), 70);
        cursor.searched(at(20), 90);
        assert_eq!(cursor.after(at(21)), 80);
    }

    #[test]
    fn one_search_a_minute_begins_with_the_first_statement() {
        let cursor = StatementCursor::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + 1000 * seconds);
        let begins: Vec<_> = (0..130)
            .map(|seconds| {
                let after = cursor.after(at(seconds));
                cursor.searched(at(seconds), 100 + seconds);
                (seconds, after)
            })
            .filter(|(seconds, after)| *seconds > 10 && *after == 0)
            .collect();
        assert_eq!(begins, [(60, 0), (120, 0)]);
        assert_eq!(cursor.after(at(0)), 0, "the clock was set back");
    }

    #[test]
    fn a_restart_of_the_log_lowers_the_cursor_at_once() {
        let cursor = StatementCursor::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + 1000 * seconds);
        assert_eq!(cursor.after(at(0)), 0);
        cursor.searched(at(0), 90);
        cursor.searched(at(10), 95);
        cursor.searched(at(20), 3);
        assert_eq!(cursor.after(at(21)), 3);
    }
}
