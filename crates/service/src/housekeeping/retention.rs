//! The housekeeping tasks: each kind of row that is deleted or counted, and the time for which it is kept.

use std::time::Duration;

use sealpost_domain::{
    Timestamp,
    ports::{CountedTable, ExpiringRows, StoreError},
};
use sealpost_storage::{Reader, Transaction};

use super::task::{Change, FOLLOW_UPS, HousekeepingTask, Work};
use crate::settings::Settings;

/// Returns the tasks in the order in which they run. Their names are stored in the database.
pub(super) fn tasks(settings: &Settings) -> [HousekeepingTask; 17] {
    let Settings { idempotency_ttl, retention, activity_retention, .. } = *settings;
    [
        task("partitions", retention, |tx, it, _| {
            let span = it.now.since(it.before) / PARTITIONS_PER_RETENTION;
            tx.extend_partitions(it.clock, span.max(PARTITION_MIN)).map(|_| 0)
        }),
        task("sessions", NOT_KEPT, |tx, it, limit| {
            tx.purge_expired(ExpiringRows::Sessions, it.before, limit)
        }),
        task("api_tokens", NOT_KEPT, |tx, it, limit| {
            tx.purge_expired(ExpiringRows::ApiTokens, it.before, limit)
        }),
        task("activity", activity_retention, |tx, it, limit| tx.purge_activity(it.before, limit)),
        task("closed_accounts", NOT_KEPT, |tx, it, limit| continue_closing(tx, it.clock, limit)),
        task("idempotency_keys", idempotency_ttl, |tx, it, limit| {
            tx.purge_expired(ExpiringRows::IdempotencyKeys, it.before, limit)
        }),
        task("used_forms", USED_FORMS_KEPT, |tx, it, limit| {
            tx.purge_expired(ExpiringRows::UsedForms, it.before, limit)
        }),
        count("envelopes_counted", CountedTable::Envelopes),
        count("attempts_counted", CountedTable::Attempts),
        task("daily_counts", DAILY_COUNTS_KEPT, |tx, it, limit| {
            tx.purge_daily_counts(it.before, limit)
        }),
        HousekeepingTask {
            reads_ahead: true,
            ..task("envelopes", retention, |tx, it, limit| {
                tx.purge_envelopes(it.before, it.clock, limit)
            })
        },
        task("envelope_lists", retention, |tx, it, limit| {
            tx.purge_envelope_lists(it.before, limit)
        }),
        task("contacts", retention, |tx, it, limit| {
            tx.purge_expired(ExpiringRows::Contacts, it.before, limit)
        }),
        task("events", retention, |tx, it, limit| tx.purge_events(it.before, limit)),
        task("attempts", retention, |tx, it, limit| tx.purge_attempts(it.before, limit)),
        task("retired_secrets", NOT_KEPT, |tx, it, limit| tx.purge_retired_secrets(it.now, limit)),
        task("channels", retention, |tx, it, limit| {
            tx.purge_channels(it.before, Settings::CHANNEL_LIFE_MAX, limit)
        }),
    ]
}

/// Returns the tasks whose results users wait for, each with a query that returns true while the task has work. The
/// tasks run on their own thread, which looks for work more often than the other housekeeping.
///
/// - `deleted_webhooks` deletes the deliveries and attempts of deleted webhooks. Only then can their undelivered
///   envelopes go to a new webhook.
/// - `identity_rotations` sends events about a changed key to its correspondents: the keys that exchanged envelopes
///   with it.
pub(super) fn follow_ups(settings: &Settings) -> [(HousekeepingTask, HasWork); 2] {
    let [remove, inform] = FOLLOW_UPS;
    let remove = task(remove, NOT_KEPT, |tx, it, limit| tx.purge_deleted_webhooks(it.clock, limit));
    let inform = task(inform, settings.retention, |tx, it, limit| {
        let envelopes = limit.saturating_mul(ENVELOPES_READ_PER_ROW);
        // Counts the retention time from the clock, not from the stored time. A wrong clock does no harm here, because
        // the task deletes no envelope.
        let oldest = it.clock.minus(it.now.since(it.before));
        let has_more = tx.inform_correspondents(oldest, it.clock, INFORMED_MAX, envelopes)?;
        Ok(if has_more { limit.into() } else { 0 })
    });
    [(remove, |reader| reader.has_deleted_webhooks()), (inform, |reader| reader.has_rotations())]
}

/// Returns true while a task has work.
pub(super) type HasWork = fn(&mut Reader) -> Result<bool, StoreError>;

/// Continues the interrupted closing of an account: deletes at most `limit` further rows of the account. Returns
/// `limit` if there was an account to close, so that the task runs again, and otherwise 0.
fn continue_closing(tx: &mut Transaction, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
    let Some(account) = tx.find_closing()? else { return Ok(0) };
    tx.close_portion(&account, now, limit)?;
    Ok(limit.into())
}

fn task(name: &'static str, keep: Duration, change: Change) -> HousekeepingTask {
    HousekeepingTask { name, keep, work: Work::Change(change), reads_ahead: false }
}

fn count(name: &'static str, table: CountedTable) -> HousekeepingTask {
    HousekeepingTask { name, keep: COUNTED_AFTER, work: Work::Count(table), reads_ahead: false }
}

/// Returns the interval between runs of housekeeping. A short retention time needs a short interval, so that rows are
/// deleted soon after they expire.
pub(super) fn interval(settings: &Settings) -> Duration {
    let interval = (settings.retention / TURNS_PER_RETENTION).max(INTERVAL_MIN);
    settings.housekeeping_every.min(interval)
}

/// Number of partitions into which the retention time is divided. A partition is dropped once all its rows have
/// expired, so a row can stay longer than the retention time by up to the span of one partition.
const PARTITIONS_PER_RETENTION: u32 = 5;
/// Minimum time span of a partition.
const PARTITION_MIN: Duration = Duration::from_secs(1);
/// Minimum number of runs of housekeeping within the retention time.
const TURNS_PER_RETENTION: u32 = 20;
/// Minimum interval between runs, unless `housekeeping_every` is shorter.
const INTERVAL_MIN: Duration = Duration::from_millis(500);
/// Retention time of rows that are deleted without delay, such as expired sessions and the rows of deleted webhooks.
const NOT_KEPT: Duration = Duration::ZERO;
/// Minimum age of rows that are added to the daily counts. Rows are counted in the order of their ids, and a row gets
/// its id before its commit. A commit takes less than a minute, so no row with a lower id can appear after this time.
/// Only a node whose clock is behind can store such a row, which then is not counted.
///
/// A longer time would make the dashboard incomplete at lower rates: it adds at most 10,000 uncounted envelopes of the
/// whole service to the daily counts. With one minute, its numbers are complete up to about 80 sends a second.
const COUNTED_AFTER: Duration = Duration::from_mins(1);
/// Maximum number of correspondents that get an event about a change of a key. Correspondents are the keys that sent
/// envelopes to the key or received envelopes from it.
const INFORMED_MAX: u32 = 10_000;
/// Number of envelopes that one search for correspondents may read, for each row that one batch may delete. Greater
/// than 1, because reading an envelope is cheaper than deleting a row.
const ENVELOPES_READ_PER_ROW: u32 = 4;
/// Time for which the service records that a form of the dashboard was sent. A browser may send a form again as long as
/// it shows the page.
const USED_FORMS_KEPT: Duration = Duration::from_hours(24);
/// Time for which daily counts are kept: longer than the period that the dashboard shows.
const DAILY_COUNTS_KEPT: Duration = Duration::from_hours(24 * 40);
