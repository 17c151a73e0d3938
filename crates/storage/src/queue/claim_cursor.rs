//! The positions from which the next claim searches. A claim leases due deliveries to a node.

use std::ops::RangeInclusive;

use parking_lot::Mutex;
use sealpost_domain::Timestamp;

use crate::query::time_position::TimePosition;

/// The times from which the next claim searches for due deliveries and ended leases. All clones of a
/// [`Database`](crate::Database) share the cursor.
///
/// Each search continues at the earliest time that the last search found. A search from the beginning would be slow on
/// PostgreSQL: while another session has an old snapshot, the index keeps the entries of all deliveries that were
/// claimed before.
///
/// A row can appear before the position, so both searches sometimes go back:
///
/// - Due deliveries: each search goes back by at least [`SLACK_MS`]. Once per [`FULL_EVERY_MS`], a search starts at the
///   first due time.
/// - Ended leases: once per [`FULL_ENDS_EVERY_MS`], a search starts at the first end. Only a node with a wrong clock
///   stores an end in the past.
#[derive(Debug, Default)]
pub(crate) struct ClaimCursor(Mutex<Positions>);

#[derive(Debug, Default)]
struct Positions {
    /// The webhook after which the next claim continues to look for webhooks with short queues, in the order of ids.
    ///
    /// A claim visits a limited number of webhooks. If each claim began at the lowest id, webhooks with high ids would
    /// wait until the longest queue is empty.
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

    /// Stores where the next searches continue. `due` and `lease_end` are the earliest times that the searches at `now`
    /// found, in milliseconds since the Unix epoch.
    ///
    /// `None` means that the search found nothing. The next search then continues at `now`. The position for due
    /// deliveries is always at least [`SLACK_MS`] before `now`.
    pub(crate) fn searched(&self, now: Timestamp, due: Option<i64>, lease_end: Option<i64>) {
        let now = now.as_millis();
        let mut positions = self.0.lock();
        positions.due.next = due.unwrap_or(now).min(now.saturating_sub(SLACK_MS));
        positions.lease_ends.next = lease_end.unwrap_or(now);
    }
}

/// Each search for due deliveries goes back at least this many milliseconds, because a transaction can store a due time
/// that has already passed:
/// - A transaction commits some time after it has read the clock, and the clocks of nodes differ. Usually this delay
///   and this difference are shorter than the constant.
/// - A redelivery can be requested while the delivery is leased. When the lease ends, the time of this request becomes
///   the due time. The default lease is shorter than the constant.
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
