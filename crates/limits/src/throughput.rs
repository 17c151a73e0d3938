//! Limits the messages per second with the generic cell rate algorithm (GCRA), in whole microseconds and with a burst
//! of one second.

use sealpost_domain::Timestamp;

use crate::window::{CLOCK_DIFFERENCE_MAX_MS, clamp_millis};

/// Admits one message at `now`. `tat_us` is the stored theoretical arrival time (TAT) of the GCRA algorithm; the result
/// is the new one. If the message is refused, the error is the earliest time at which a message can be admitted. If the
/// limit is 0, this is one second after `now`.
///
/// An interval is the time between two messages at the limit, rounded up to whole microseconds, so that the limit is
/// never exceeded. The burst is the number of messages in one second. A message is admitted if the stored TAT is at
/// most `burst - 1` intervals ahead of `now`. The new TAT is one interval after the stored TAT or `now`, whichever is
/// later.
pub(crate) fn admit(per_second: u32, tat_us: i64, now: Timestamp) -> Result<i64, Timestamp> {
    let burst = i64::from(per_second).min(SECOND_US);
    let Some(interval_us) = interval_us(burst) else {
        return Err(Timestamp::from_millis(clamp_millis(now).saturating_add(SECOND_MS)));
    };
    let now_us = clamp_millis(now).saturating_mul(MILLI_US);
    let rest_us = interval_us.saturating_mul(burst.saturating_sub(1));
    // Replaces a TAT that is further ahead: a node with a wrong clock stored it, and all messages would be refused
    // until then.
    let is_wrong = tat_us.saturating_sub(now_us) > AHEAD_MAX_US;
    let tat_us = if is_wrong { now_us } else { tat_us };
    let open_us = tat_us.saturating_sub(rest_us);
    if open_us > now_us {
        // Rounds up to whole milliseconds, so that a caller that waits until the returned time is not refused again.
        let rounded_up = open_us.saturating_add(MILLI_US - 1).div_euclid(MILLI_US);
        return Err(Timestamp::from_millis(rounded_up));
    }
    Ok(tat_us.max(now_us).saturating_add(interval_us))
}

/// Returns the interval between two messages in microseconds, rounded up; `None` if the limit is 0 and admits no
/// message.
fn interval_us(burst: i64) -> Option<i64> {
    let rounded_up = SECOND_US.saturating_add(burst).saturating_sub(1);
    rounded_up.checked_div(burst)
}

/// Maximum time by which a valid TAT is ahead of the clock: the maximum clock difference between nodes plus the longest
/// burst. A burst takes at most two seconds, because intervals are rounded up.
const AHEAD_MAX_US: i64 = CLOCK_DIFFERENCE_MAX_MS * MILLI_US + 2 * SECOND_US;
const MILLI_US: i64 = 1_000;
const SECOND_MS: i64 = 1_000;
/// One second in microseconds. Also the highest rate per second: higher limits are treated as this rate.
const SECOND_US: i64 = 1_000_000;
