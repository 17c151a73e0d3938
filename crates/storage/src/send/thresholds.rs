//! Records that a key has reached a threshold (a percentage) of its usage limit, and stores an event. Each threshold
//! gives at most one event per day or month (the window of the limit).

use diesel::{
    prelude::*,
    sql_types::{BigInt, SmallInt, Text},
};
use sealpost_domain::ReachedThreshold;

use crate::{
    connection::{AnyConnection, fault::Fault},
    queue::events,
};

/// Records the reached thresholds that are not yet recorded for the current day or month, and stores an event for each
/// of them. The usage rows of the keys must be locked, so that no other transaction records the same thresholds.
pub(crate) fn record(conn: &mut AnyConnection, reached: &[ReachedThreshold]) -> Result<(), Fault> {
    let mut new = Vec::new();
    for threshold in reached {
        if is_first(conn, threshold)? {
            new.push(threshold.event());
        }
    }
    events::store(conn, &new)?;
    Ok(())
}

/// Records a reached threshold. Returns false if the threshold is already recorded for the same day or month. A key
/// reaches few thresholds, so one statement for each threshold is fast enough on both databases.
fn is_first(conn: &mut AnyConnection, reached: &ReachedThreshold) -> Result<bool, Fault> {
    let recorded = diesel::sql_query(RECORD)
        .bind::<Text, _>(reached.details.api_key_id.to_string())
        .bind::<Text, _>(reached.details.window.as_str())
        .bind::<SmallInt, _>(i16::from(reached.details.threshold))
        .bind::<BigInt, _>(reached.window_start.as_millis())
        .execute(conn)?;
    Ok(recorded == 1)
}

/// Inserts or updates the row of a threshold. A key has one row for each threshold of each limit. The row contains the
/// start of the newest day or month in which the key has reached the threshold.
const RECORD: &str = "/* thresholds.record */
    INSERT INTO usage_thresholds AS t (api_key_id, span, threshold, window_start)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (api_key_id, span, threshold) DO UPDATE SET window_start = excluded.window_start
    WHERE t.window_start <> excluded.window_start";
