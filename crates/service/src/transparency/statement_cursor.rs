//! Stores the position from which the next search for pending [statements](sealpost_domain::ports::StatementKind)
//! begins. A pending statement is stored, but not in the transparency log yet.

use std::time::Duration;

use parking_lot::Mutex;
use sealpost_domain::Timestamp;

/// The id up to which all statements have been appended to the log. The next search begins after this id.
///
/// Without the cursor, each search would read the index entries of all appended statements, which PostgreSQL keeps
/// while another session has an open snapshot. With 64 busy connections and two searches a second, a search took 250
/// milliseconds after 20 minutes.
#[derive(Default)]
pub(crate) struct StatementCursor(Mutex<Positions>);

struct Positions {
    /// The name of the log in which the statements up to `after` are.
    log: String,
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
        Self { log: String::new(), after: 0, newest: 0, newest_at: never, full_at: never }
    }
}

impl StatementCursor {
    /// Returns the id after which a search begins: the cursor, or 0 to search from the beginning. Returns 0:
    ///
    /// - Once a minute, to find statements of transactions that took longer than [`SLACK`]. Such a statement can have
    ///   an id below the cursor.
    /// - After a restart of the log, until a search has appended all statements to the new log. Otherwise this node
    ///   would append newer statements, while another thread or node still appends older ones.
    pub(super) fn after(&self, log: &str, now: Timestamp) -> i64 {
        let mut positions = self.0.lock();
        if positions.log != log {
            *positions = Positions { log: log.to_owned(), ..Positions::default() };
        }
        if now.abs_diff(positions.full_at) >= FULL_EVERY {
            positions.full_at = now;
            return 0;
        }
        positions.after
    }

    /// Records that all statements found by a search have been appended to the log `log`. `newest` is the id of the
    /// newest statement before the search. Does nothing if another log was given to [`after`](Self::after) since.
    pub(super) fn searched(&self, log: &str, now: Timestamp, newest: i64) {
        let mut positions = self.0.lock();
        if positions.log == log && now.abs_diff(positions.newest_at) >= SLACK {
            positions.after = positions.newest.min(newest);
            positions.newest = newest;
            positions.newest_at = now;
        }
    }
}

/// The cursor moves to an id only after this time, counted from when the id was the newest. A statement gets its id
/// before its transaction commits, so a statement with a lower id can appear later. Most transactions are shorter than
/// this time.
const SLACK: Duration = Duration::from_secs(10);
const FULL_EVERY: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "example.org/log";

    #[test]
    fn a_search_begins_after_what_was_the_newest_ten_seconds_ago() {
        let cursor = StatementCursor::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + 1000 * seconds);
        assert_eq!(cursor.after(LOG, at(0)), 0);
        cursor.searched(LOG, at(0), 70);
        for seconds in 1..10 {
            cursor.searched(LOG, at(seconds), 70 + seconds);
            assert_eq!(cursor.after(LOG, at(seconds)), 0, "transactions may have lower ids");
        }
        cursor.searched(LOG, at(10), 80);
        assert_eq!(cursor.after(LOG, at(11)), 70);
        cursor.searched(LOG, at(20), 90);
        assert_eq!(cursor.after(LOG, at(21)), 80);
    }

    #[test]
    fn one_search_a_minute_begins_with_the_first_statement() {
        let cursor = StatementCursor::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + 1000 * seconds);
        let begins: Vec<_> = (0..130)
            .map(|seconds| {
                let after = cursor.after(LOG, at(seconds));
                cursor.searched(LOG, at(seconds), 100 + seconds);
                (seconds, after)
            })
            .filter(|(seconds, after)| *seconds > 10 && *after == 0)
            .collect();
        assert_eq!(begins, [(60, 0), (120, 0)]);
        assert_eq!(cursor.after(LOG, at(0)), 0, "the clock was set back");
    }

    #[test]
    fn a_new_log_is_searched_from_the_first_statement_until_it_has_all() {
        let cursor = StatementCursor::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + 1000 * seconds);
        let new = "example.org/log/2";
        for seconds in [0, 10, 20] {
            cursor.after(LOG, at(seconds));
            cursor.searched(LOG, at(seconds), 90 + seconds);
        }
        assert_eq!(cursor.after(LOG, at(21)), 100);
        // The first call appends only some of the statements, and a search of the old log ends late.
        assert_eq!(cursor.after(new, at(22)), 0);
        cursor.searched(LOG, at(35), 120);
        assert_eq!(cursor.after(new, at(36)), 0);
        cursor.searched(new, at(36), 130);
        assert_eq!(cursor.after(new, at(37)), 0);
        cursor.searched(new, at(46), 140);
        assert_eq!(cursor.after(new, at(47)), 130);
    }

    #[test]
    fn a_lower_newest_id_lowers_the_cursor_at_once() {
        let cursor = StatementCursor::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + 1000 * seconds);
        assert_eq!(cursor.after(LOG, at(0)), 0);
        cursor.searched(LOG, at(0), 90);
        cursor.searched(LOG, at(10), 95);
        cursor.searched(LOG, at(20), 3);
        assert_eq!(cursor.after(LOG, at(21)), 3);
    }
}
