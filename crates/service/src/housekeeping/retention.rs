//! Retention: the rows that housekeeping deletes or counts, and the time for which each kind is kept.

use std::time::Duration;

use super::task::{HousekeepingTask, Purge};
use crate::settings::Settings;

/// Lists the tasks in the order of their run. The names are stored in the database.
pub(super) fn tasks(settings: &Settings) -> [HousekeepingTask; 12] {
    let Settings { idempotency_ttl, retention, .. } = *settings;
    [
        task("sessions", NOT_KEPT, |tx, it, limit| tx.purge_sessions(it.before, limit)),
        task("idempotency_keys", idempotency_ttl, |tx, it, limit| {
            tx.purge_idempotency_keys(it.before, limit)
        }),
        task("envelopes_counted", COUNTED_AFTER, |tx, it, limit| {
            tx.count_envelopes(it.before, limit)
        }),
        task("attempts_counted", COUNTED_AFTER, |tx, it, limit| {
            tx.count_attempts(it.before, limit)
        }),
        task("daily_counts", DAILY_COUNTS_KEPT, |tx, it, limit| {
            tx.purge_daily_counts(it.before, limit)
        }),
        task("envelopes", retention, |tx, it, limit| tx.purge_envelopes(it.before, it.now, limit)),
        task("contacts", retention, |tx, it, limit| tx.purge_contacts(it.before, limit)),
        task("events", retention, |tx, it, limit| tx.purge_events(it.before, limit)),
        task("attempts", retention, |tx, it, limit| tx.purge_attempts(it.before, limit)),
        task("deleted_webhooks", NOT_KEPT, |tx, it, limit| {
            tx.purge_deleted_webhooks(it.now, limit)
        }),
        task("retired_secrets", NOT_KEPT, |tx, it, limit| tx.purge_retired_secrets(it.now, limit)),
        task("channels", retention, |tx, it, limit| {
            tx.purge_channels(it.before, Settings::CHANNEL_LIFE_MAX, limit)
        }),
    ]
}

fn task(name: &'static str, keep: Duration, purge: Purge) -> HousekeepingTask {
    HousekeepingTask { name, keep, purge }
}

/// Retention of rows that are deleted without delay, such as expired sessions and the rows of deleted webhooks.
const NOT_KEPT: Duration = Duration::ZERO;
/// Age at which rows are counted. Rows are counted in the order of their ids, and an id is created before its row is
/// committed. A commit takes less than a minute, so no row with a lower id appears later.
const COUNTED_AFTER: Duration = Duration::from_mins(1);
/// Retention of daily counts. All pages of the dashboard show shorter periods.
const DAILY_COUNTS_KEPT: Duration = Duration::from_hours(24 * 40);
