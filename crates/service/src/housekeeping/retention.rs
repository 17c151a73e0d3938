//! Retention: the rows that housekeeping deletes or counts, and the time for which each kind is kept.

use std::time::Duration;

use super::task::{HousekeepingTask, Purge};
use crate::settings::Settings;

/// Lists the tasks in the order of their run. The names are stored in the database.
pub(super) fn tasks(settings: &Settings) -> [HousekeepingTask; 10] {
    let Settings { idempotency_ttl, retention, .. } = *settings;
    [
        task("sessions", NOT_KEPT, |tx, before, limit| tx.purge_sessions(before, limit)),
        task("idempotency_keys", idempotency_ttl, |tx, before, limit| {
            tx.purge_idempotency_keys(before, limit)
        }),
        task("envelopes_counted", COUNTED_AFTER, |tx, before, limit| {
            tx.count_envelopes(before, limit)
        }),
        task("attempts_counted", COUNTED_AFTER, |tx, before, limit| {
            tx.count_attempts(before, limit)
        }),
        task("daily_counts", DAILY_COUNTS_KEPT, |tx, before, limit| {
            tx.purge_daily_counts(before, limit)
        }),
        task("envelopes", retention, |tx, before, limit| tx.purge_envelopes(before, limit)),
        task("attempts", retention, |tx, before, limit| tx.purge_attempts(before, limit)),
        task("deleted_webhooks", NOT_KEPT, |tx, _, limit| tx.purge_deleted_webhooks(limit)),
        task("retired_secrets", NOT_KEPT, |tx, now, limit| tx.purge_retired_secrets(now, limit)),
        task("channels", retention, |tx, before, limit| {
            tx.purge_channels(before, Settings::CHANNEL_LIFE_MAX, limit)
        }),
    ]
}

fn task(name: &'static str, keep: Duration, purge: Purge) -> HousekeepingTask {
    HousekeepingTask { name, keep, purge }
}

/// Retention of rows that expire by another rule, such as ended sessions and deleted webhooks.
const NOT_KEPT: Duration = Duration::ZERO;
/// Age at which rows are counted. Counting follows the order of ids, and an id is created before its commit. No commit
/// takes a minute.
const COUNTED_AFTER: Duration = Duration::from_mins(1);
/// Retention of daily counts. All pages of the dashboard show shorter periods.
const DAILY_COUNTS_KEPT: Duration = Duration::from_hours(24 * 40);
