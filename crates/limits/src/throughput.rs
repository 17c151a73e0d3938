//! Throughput: the generic cell rate algorithm in whole microseconds, with a burst of one second.

use sealpost_domain::Timestamp;

use crate::window::{CLOCKS_APART_MAX_MS, tellable};

/// The theoretical arrival time after one more message at `now`, or the instant from which one is admitted.
///
/// Each message moves the theoretical arrival time `interval_us` on, and one is admitted while that time is no more
/// than the rest of the burst ahead of the clock. An interval that is no whole number of microseconds is rounded
/// up, so the limit is never passed.
///
/// A theoretical arrival time that is further ahead than a burst and two clocks can bring it was written by a clock that
/// was wrong, and would refuse the key until then: it counts as one that has come.
pub(crate) fn admit(per_second: u32, tat_us: i64, now: Timestamp) -> Result<i64, Timestamp> {
    let burst = i64::from(per_second).min(SECOND_US);
    let Some(interval_us) = interval_us(burst) else {
        return Err(Timestamp::from_millis(tellable(now).saturating_add(SECOND_MS)));
    };
    let now_us = tellable(now).saturating_mul(MILLI_US);
    let rest_us = interval_us.saturating_mul(burst.saturating_sub(1));
    let is_wrong = tat_us.saturating_sub(now_us) > AHEAD_MAX_US;
    let tat_us = if is_wrong { now_us } else { tat_us };
    let open_us = tat_us.saturating_sub(rest_us);
    if open_us > now_us {
        return Err(Timestamp::from_millis(whole_millis(open_us)));
    }
    Ok(tat_us.max(now_us).saturating_add(interval_us))
}

/// `None` where nothing is ever admitted.
fn interval_us(burst: i64) -> Option<i64> {
    let rounded_up = SECOND_US.saturating_add(burst).saturating_sub(1);
    rounded_up.checked_div(burst)
}

/// Rounded up, so that who waits this long does not come a fraction too early.
fn whole_millis(micros: i64) -> i64 {
    let down = micros.div_euclid(MILLI_US);
    if micros.rem_euclid(MILLI_US) > 0 { down.saturating_add(1) } else { down }
}

/// The longest burst takes two seconds, with every interval rounded up.
const AHEAD_MAX_US: i64 = CLOCKS_APART_MAX_MS * MILLI_US + 2 * SECOND_US;
const MILLI_US: i64 = 1_000;
const SECOND_MS: i64 = 1_000;
/// Also the fastest that whole microseconds can tell apart: a higher limit counts as this many a second.
const SECOND_US: i64 = 1_000_000;
