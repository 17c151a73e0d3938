//! Runs one housekeeping task, which deletes or counts rows in bounded batches. Only one node at a time runs a task.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use sealpost_domain::{
    Timestamp,
    ports::{CountedTable, Durability, HousekeepingTurn, StoreError, UncountedRows},
    with_causes,
};
use sealpost_storage::Transaction;

use crate::{periodic_thread::StopSignal, sealpost::core::Core};

/// A kind of row to delete or count, and the time for which such rows are kept.
pub(super) struct HousekeepingTask {
    pub(super) name: &'static str,
    pub(super) keep: Duration,
    pub(super) work: Work,
    /// Whether the envelopes of the next batch are read into memory before the transaction that deletes them. On
    /// SQLite, all other writers wait for this transaction, so it must not wait for the disk.
    pub(super) reads_ahead: bool,
}

/// The work of one batch.
pub(super) enum Work {
    /// Deletes or changes rows in one transaction.
    Change(Change),
    /// Adds rows of this table to the daily counts. Reads the rows before the transaction, because on SQLite all other
    /// writers wait for a transaction.
    Count(CountedTable),
}

/// Deletes or changes rows, and returns their number. The last parameter is the maximum number of rows.
pub(super) type Change = fn(&mut Transaction, Times, u32) -> Result<u64, StoreError>;

/// The times by which a task selects rows.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// The stored time of the task, which can lag behind the clock.
    pub(super) now: Timestamp,
    /// The current time of the node's clock. New rows, such as events, get this time: with `now`, an event could expire
    /// before it is delivered.
    pub(super) clock: Timestamp,
    /// Rows with an earlier time have expired.
    pub(super) before: Timestamp,
}

/// Runs a task until no expired row is left, [`TASK_MAX`] has passed, or the node stops. Returns the stored time of the
/// task, which can lag behind the clock. Returns `None` if another node is running the task, or if the task failed.
pub(super) fn run_task(
    core: &Core,
    task: &HousekeepingTask,
    stop: &StopSignal,
) -> Option<Timestamp> {
    purge(core, task, stop).unwrap_or_else(|error| {
        tracing::warn!(
            error = with_causes(&error),
            task = task.name,
            "a housekeeping task failed; it runs again later"
        );
        None
    })
}

/// Runs batches of a task until no row is left, or [`TASK_MAX`] has passed. A pause between batches lets other writers
/// proceed.
///
/// A wrong clock, for example after a restore, must not delete rows that are still needed. Therefore rows expire by a
/// time that the database stores for each task. One run advances this time by at most ten times the interval between
/// runs.
///
/// - Correct clock: the stored time keeps up with the clock.
/// - Long stop of the service: the stored time catches up over several runs.
/// - Clock far ahead: the stored time advances slowly, so an operator has time to correct the clock.
fn purge(
    core: &Core,
    task: &HousekeepingTask,
    stop: &StopSignal,
) -> Result<Option<Timestamp>, StoreError> {
    let first_began = Instant::now();
    let batch_long =
        if core.store.has_single_writer() { BATCH_LONG_ALONE } else { BATCH_LONG_BESIDE_OTHERS };
    let mut limit = core.settings.housekeeping_batch;
    let held_for = held_for(task.name);
    let is_follow_up = FOLLOW_UPS.contains(&task.name);
    let mut pace = core.settings.housekeeping_every.saturating_mul(10).max(PACE_MIN);
    loop {
        let now = core.clock.now();
        let pace_now = if is_follow_up { FOLLOW_UP_PACE } else { pace };
        let turn =
            HousekeepingTurn { task: task.name, node: core.node, now, held_for, pace: pace_now };
        let Some(Batch { times, rows, took }) = run_batch(core, task, &turn, limit, stop)? else {
            return Ok(None);
        };
        let is_over = rows < u64::from(limit) || first_began.elapsed() > TASK_MAX;
        if is_over || stop.wait(PAUSE) {
            return Ok(Some(times.now));
        }
        pace = Duration::ZERO;
        limit = next_limit(limit, took, batch_long);
        if task.reads_ahead {
            core.store.read_ahead(times.before, limit)?;
        }
    }
}

/// A finished batch.
struct Batch {
    times: Times,
    /// The number of changed or counted rows.
    rows: u64,
    /// The duration of the transaction that changed or counted the rows.
    took: Duration,
}

/// Runs one batch of a task. Returns `None` if another node is running the task.
fn run_batch(
    core: &Core,
    task: &HousekeepingTask,
    turn: &HousekeepingTurn<'_>,
    limit: u32,
    stop: &StopSignal,
) -> Result<Option<Batch>, StoreError> {
    let (begun, mut took) = timed_write(core, |tx| {
        let Some(time) = tx.take_housekeeping_turn(turn)? else { return Ok(None) };
        let times = Times { now: time, clock: turn.now, before: time.minus(task.keep) };
        let changed = match task.work {
            Work::Change(change) => change(tx, times, limit)?,
            Work::Count(_) => 0,
        };
        Ok(Some((times, changed)))
    })?;
    let Some((times, mut rows)) = begun else { return Ok(None) };
    if let Work::Count(table) = task.work
        && let Some(uncounted) = read_uncounted(core, table, times.before, limit, stop)?
    {
        (rows, took) = timed_write(core, |tx| tx.count(&uncounted))?;
    }
    Ok(Some(Batch { times, rows, took }))
}

/// Reads rows of a table that are not in the daily counts yet, and sums them for each day and each key or webhook, so
/// that many rows need only one update of a daily count. Returns `None` if all rows are counted.
///
/// Updates are slow while another connection to the database has an open snapshot: the database then keeps all old
/// versions of a count, and each update reads them.
///
/// Reads portions of `limit` rows, and pauses after each, to leave processor time to sends. A portion can take ten
/// times longer if SQLite's write-ahead log is long, so the pause is a multiple of the time that the portion took.
fn read_uncounted(
    core: &Core,
    table: CountedTable,
    before: Timestamp,
    limit: u32,
    stop: &StopSignal,
) -> Result<Option<UncountedRows>, StoreError> {
    let mut rows: Option<UncountedRows> = None;
    let sums_max = if core.store.has_single_writer() {
        COUNTED_SUMS_MAX_ALONE
    } else {
        COUNTED_SUMS_MAX_BESIDE_OTHERS
    };
    let began = Instant::now();
    loop {
        let portion_began = Instant::now();
        let next =
            core.store.read(|reader| reader.uncounted(table, before, limit, rows.as_ref()))?;
        let Some(next) = next else { return Ok(rows) };
        let pause = portion_began.elapsed() * PAUSE_OF_COUNT;
        let is_last = next.number < u64::from(limit);
        let all = match rows.take() {
            Some(mut all) => {
                all.add(next);
                all
            }
            None => next,
        };
        let is_full = all.number >= COUNTED_ROWS_MAX || all.sums() >= sums_max;
        rows = Some(all);
        if is_last || is_full || began.elapsed() > TASK_MAX || stop.wait(pause) {
            return Ok(rows);
        }
    }
}

/// Runs a transaction. Returns its result, and its duration without the wait for other writers.
fn timed_write<T>(
    core: &Core,
    mut work: impl FnMut(&mut Transaction) -> Result<T, StoreError>,
) -> Result<(T, Duration), StoreError> {
    let began = Cell::new(Instant::now());
    let value = core.store.write(Durability::Relaxed, |tx| {
        began.set(Instant::now());
        work(tx)
    })?;
    Ok((value, began.get().elapsed()))
}

/// Returns the size of the next batch. `took` is the duration of the previous batch. The next batch is:
///
/// - smaller, if the previous batch took more than `batch_long`, because a long batch blocks other writers
/// - larger, if the previous batch took less than two fifths of `batch_long`, because small batches are slow in total
/// - of the same size otherwise
fn next_limit(limit: u32, took: Duration, batch_long: Duration) -> u32 {
    let next = if took < batch_long * 2 / 5 {
        limit.saturating_mul(2)
    } else if took > batch_long {
        limit / 2
    } else {
        limit
    };
    next.clamp(LIMIT_MIN.min(limit), LIMIT_MAX.max(limit))
}

/// Duration of a batch above which the next batch is smaller, for SQLite. The duration is short, because all other
/// writers wait for a batch.
const BATCH_LONG_ALONE: Duration = Duration::from_millis(16);
/// Duration of a batch above which the next batch is smaller, for PostgreSQL, where other writers proceed during a
/// batch. On a busy server, even a small batch can take long, because the batch waits for the processor. A shorter
/// duration would only make housekeeping slower.
const BATCH_LONG_BESIDE_OTHERS: Duration = Duration::from_millis(500);
/// Duration after which a task starts no further batch in the same run of housekeeping.
const TASK_MAX: Duration = Duration::from_secs(30);
/// Minimum number of rows to which batches shrink. Smaller batches would take longer in total, because each batch waits
/// for other writers.
const LIMIT_MIN: u32 = 200;
/// Maximum number of rows to which batches grow.
const LIMIT_MAX: u32 = 20_000;

/// The pause after each read of uncounted rows, as a multiple of the duration of this read.
const PAUSE_OF_COUNT: u32 = 4;
/// Number of read rows after which a task stops reading and adds the sums to the daily counts.
const COUNTED_ROWS_MAX: u64 = 400_000;
/// Number of sums (by day and by key or webhook) after which a task stops reading and adds the sums to the daily
/// counts, for SQLite. The number is small, because all other writers wait for the transaction that adds the sums.
const COUNTED_SUMS_MAX_ALONE: usize = 20_000;
/// Number of sums (by day and by key or webhook) after which a task stops reading and adds the sums to the daily
/// counts, for PostgreSQL. Large enough for 200,000 active keys: with a smaller number, a run would update the count of
/// each key several times.
const COUNTED_SUMS_MAX_BESIDE_OTHERS: usize = 250_000;

/// Returns the length of a turn at the task with this name. A turn is the exclusive right of one node to run the task.
pub(crate) fn held_for(task: &str) -> Duration {
    if FOLLOW_UPS.contains(&task) { FOLLOW_UP_HELD_FOR } else { HELD_FOR }
}

/// Length of a turn, the exclusive right of one node to run a task. Longer than [`TASK_MAX`], because the turn must
/// last for all batches of a run.
const HELD_FOR: Duration = Duration::from_mins(2);
/// Names of the tasks that users wait for, and that run only while they have work.
pub(super) const FOLLOW_UPS: [&str; 2] = ["deleted_webhooks", "identity_rotations"];
/// Length of a turn (the exclusive right of one node to run a task) for the [`FOLLOW_UPS`]. Each batch renews the turn.
/// The turn is short, so that another node can soon continue if this node crashes.
const FOLLOW_UP_HELD_FOR: Duration = Duration::from_secs(5);
/// Maximum time by which one run can advance the stored time of the [`FOLLOW_UPS`]. There is practically no limit,
/// because these tasks delete no row by its age. A turn ends at the stored time plus the length of a turn, so it would
/// end too early if the stored time lagged behind the clock.
const FOLLOW_UP_PACE: Duration = Duration::from_hours(24 * 36_500);
/// In one run, the stored time of a task advances by at most ten intervals between runs, or by this duration if it is
/// longer. So a node whose clock is far ahead cannot make all rows expire at once.
const PACE_MIN: Duration = Duration::from_mins(10);
/// Pause between two batches.
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// A recurring interval, which becomes due each time that the duration `every` has passed.
pub(crate) struct Interval {
    pub(crate) every: Duration,
    pub(crate) last: Timestamp,
}

impl Interval {
    /// Returns true if the interval is due at `now`, and then begins the next interval. The interval is due if `now`
    /// and `last` differ by at least `every`. `now` can be earlier than `last`, because the clock can be set back.
    pub(crate) fn take(&mut self, now: Timestamp) -> bool {
        let is_due = now.abs_diff(self.last) >= self.every;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_grows_while_it_is_quick_and_shrinks_when_it_is_slow() {
        for (limit, took_ms, next) in [
            (500, 6, 1000),
            (500, 7, 500),
            (500, 16, 500),
            (500, 17, 250),
            (15_000, 1, 20_000),
            (500, 90, 250),
            (250, 90, 200),
            (3, 90, 3),
        ] {
            let took = Duration::from_millis(took_ms);
            assert_eq!(next_limit(limit, took, BATCH_LONG_ALONE), next);
        }
    }

    #[test]
    fn an_interval_is_due_after_its_length_in_either_direction_of_the_clock() {
        let mut interval =
            Interval { every: Duration::from_millis(100), last: Timestamp::from_millis(1_000) };
        for (now, is_due) in [
            (1_000, false),
            (1_099, false),
            (1_100, true),
            (1_199, false),
            (1_200, true),
            (1_101, false),
            (1_100, true),
        ] {
            assert_eq!(interval.take(Timestamp::from_millis(now)), is_due, "{now}");
        }
    }
}
