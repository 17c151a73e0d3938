//! The positions at which the next claim continues its searches. A claim leases due deliveries.

use std::ops::RangeInclusive;

use parking_lot::Mutex;
use sealpost_domain::Timestamp;

use crate::query::time_position::TimePosition;

/// Stores the positions from which the next claim searches. All clones of a [`Database`](crate::Database) share the
/// cursor.
///
/// A claim searches due deliveries and ended leases, both ordered by time. Each search continues at the earliest time
/// that the last search found. A search from the beginning would be slow on PostgreSQL: while another session has an
/// old snapshot, the index keeps the entries of all deliveries that were claimed before.
///
/// A row can appear before the position of its search, so both searches sometimes go back:
///
/// - Due deliveries: a transaction can store a due time that has already passed. Each search therefore starts at least
///   [`SLACK_MS`] before the present. Once per [`FULL_EVERY_MS`], a search starts at the first due time.
/// - Ended leases: the end of a new lease is in the future, so its row appears before the search passes this time. Only
///   a node with a wrong clock stores an end in the past. Once per [`FULL_ENDS_EVERY_MS`], a search starts at the first
///   end.
#[derive(Debug, Default)]
pub(crate) struct ClaimCursor(Mutex<Positions>);

#[derive(Debug, Default)]
struct Positions {
    /// The id of the last webhook that the last claim visited in the order of ids.
    ///
    /// If deliveries to one webhook would fill a claim, the claim also searches for webhooks with shorter queues. A
    /// claim visits only a limited number of webhooks, and the next claim continues after the last of them. If each
    /// claim began at the lowest id, webhooks with high ids would wait until the long queue is empty.
    webhook_id: String,
    due: TimePosition,
    lease_ends: TimePosition,
}

impl ClaimCursor {
    pub(crate) fn webhook_id(&self) -> String {
        self.0.lock().webhook_id.clone()
    }

    pub(crate) fn move_to(&self, webhook_id: String) {
        self.0.lock().webhook_id = webhook_id;
    }

    /// Returns the range of times in which a claim searches for due deliveries.
    pub(crate) fn due_times(&self, now: Timestamp) -> RangeInclusive<i64> {
        self.0.lock().due.range(now.as_millis(), FULL_EVERY_MS)
    }

    /// Returns the range of times in which a claim searches for leases that have ended.
    pub(crate) fn lease_ends(&self, now: Timestamp) -> RangeInclusive<i64> {
        self.0.lock().lease_ends.range(now.as_millis(), FULL_ENDS_EVERY_MS)
    }

    /// Sets the positions at which the next searches continue. `due` is the first due time that the last search found,
    /// and `lease_end` is the first end of a lease. Both are in milliseconds since the Unix epoch.
    ///
    /// `None` means that the search found nothing. The next search then continues at `now`, the time of this search.
    /// The position for due deliveries is always at least [`SLACK_MS`] before `now`.
    pub(crate) fn searched(&self, now: Timestamp, due: Option<i64>, lease_end: Option<i64>) {
        let now = now.as_millis();
        let mut positions = self.0.lock();
        positions.due.next = due.unwrap_or(now).min(now.saturating_sub(SLACK_MS));
        positions.lease_ends.next = lease_end.unwrap_or(now);
    }
}

/// Each search for due deliveries starts at least this many milliseconds before the current time, because a transaction
/// can store a due time in the past:
/// - A transaction commits some time after it has read the clock, and the clocks of two nodes differ. Usually both
///   times are shorter than this constant.
/// - A delivery can be redelivered while it is leased. When the lease ends, the time of this request becomes the due
///   time. The default lease is also shorter than this constant.
const SLACK_MS: i64 = 60_000;

const FULL_EVERY_MS: i64 = 60_000;

const FULL_ENDS_EVERY_MS: i64 = 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_search_continues_at_the_first_due_time() {
        let cursor = ClaimCursor::default();
        assert_eq!(cursor.due_times(at(100_000)), i64::MIN..=100_000);
        cursor.searched(at(100_000), Some(30_000), None);
        assert_eq!(cursor.due_times(at(100_001)), 30_000..=100_001);
        cursor.searched(at(100_001), Some(99_000), None);
        assert_eq!(cursor.due_times(at(100_002)), 40_001..=100_002, "the slack is searched again");
        cursor.searched(at(100_002), None, None);
        assert_eq!(cursor.due_times(at(159_999)), 40_002..=159_999);
        assert_eq!(cursor.due_times(at(160_000)), i64::MIN..=160_000, "once a minute");
    }

    #[test]
    fn a_search_for_ended_leases_continues_at_the_first_end() {
        let cursor = ClaimCursor::default();
        assert_eq!(cursor.lease_ends(at(100_000)), i64::MIN..=100_000);
        cursor.searched(at(100_000), None, None);
        assert_eq!(cursor.lease_ends(at(101_000)), 100_000..=101_000);
        cursor.searched(at(101_000), None, Some(100_500));
        assert_eq!(cursor.lease_ends(at(102_000)), 100_500..=102_000);
        assert_eq!(cursor.lease_ends(at(3_700_000)), i64::MIN..=3_700_000, "once an hour");
    }

    #[test]
    fn a_clock_that_was_set_back_starts_from_the_beginning() {
        let cursor = ClaimCursor::default();
        cursor.due_times(at(100_000));
        cursor.lease_ends(at(100_000));
        cursor.searched(at(100_000), None, None);
        assert_eq!(cursor.due_times(at(99_999)), i64::MIN..=99_999);
        assert_eq!(cursor.lease_ends(at(99_999)), i64::MIN..=99_999);
    }
}
