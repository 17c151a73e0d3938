//! The retry schedule: the pauses between the attempts of a delivery. Parses and displays schedules such as `5s,5m,2h`.

use std::{fmt, str::FromStr, time::Duration};

/// The pauses between the attempts of a delivery. The first pause is between the first and the second attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySchedule {
    pauses_ms: Vec<u64>,
}

impl RetrySchedule {
    /// Scales a duration to this schedule. If the schedule's first pause is shorter than the default first pause,
    /// shortens the duration in the same proportion. Otherwise returns it unchanged. An operator who configures fast
    /// retries expects other delays to be short too.
    pub fn scaled(&self, duration: Duration) -> Duration {
        let first_ms =
            self.pauses_ms.first().copied().unwrap_or(DEFAULT_FIRST_MS).min(DEFAULT_FIRST_MS);
        let scaled_ms = duration.as_millis() * u128::from(first_ms) / u128::from(DEFAULT_FIRST_MS);
        Duration::from_millis(u64::try_from(scaled_ms).unwrap_or(u64::MAX))
    }

    /// Returns the pause after `attempts_made` attempts, without jitter; `None` after the last attempt.
    pub(super) fn pause(&self, attempts_made: u32) -> Option<Duration> {
        let index = usize::try_from(attempts_made.checked_sub(1)?).ok()?;
        self.pauses_ms.get(index).copied().map(Duration::from_millis)
    }
}

/// Adds up to a fifth of the pause, in proportion to the random number `jitter`. Never shortens a pause, so no retry is
/// early.
pub(super) fn with_jitter(pause: Duration, jitter: u32) -> Duration {
    let full_scale = u128::from(u32::MAX) * JITTER_DIVISOR;
    let extra_ms = pause.as_millis() * u128::from(jitter) / full_scale;
    pause.saturating_add(Duration::from_millis(u64::try_from(extra_ms).unwrap_or(u64::MAX)))
}

/// The reason why a text is not a retry schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The text has no pauses, or more than 32 pauses.
    #[error("name 1 to 32 pauses, separated by commas, such as 5s,5m,2h")]
    Count,
    /// A pause has no number or no known unit.
    #[error("write the pause \"{0}\" as a whole number with ms, s, m, h or d, such as 5s")]
    Pause(String),
    /// A pause is zero, or longer than 30 days.
    #[error("choose the pause \"{0}\" from 1ms to 30d")]
    Span(String),
}

impl FromStr for RetrySchedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let pauses = || text.split(',').map(str::trim).filter(|pause| !pause.is_empty());
        if !(1..=PAUSES_MAX).contains(&pauses().count()) {
            return Err(ScheduleError::Count);
        }
        let pauses_ms = pauses().map(parse_pause).collect::<Result<_, _>>()?;
        Ok(Self { pauses_ms })
    }
}

impl Default for RetrySchedule {
    /// Returns the schedule of Standard Webhooks: ten attempts in 75 hours and 35 minutes.
    fn default() -> Self {
        let pauses_s = [5, 5 * 60, 30 * 60, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
        Self { pauses_ms: pauses_s.map(|pause_s: u64| pause_s * 1000).to_vec() }
    }
}

impl fmt::Display for RetrySchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pause_ms) in self.pauses_ms.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            let divides = |unit: &&(&str, u64)| pause_ms % unit.1 == 0;
            let (name, unit_ms) = UNITS.iter().rfind(divides).unwrap_or(&("ms", 1));
            write!(f, "{separator}{}{name}", pause_ms / unit_ms)?;
        }
        Ok(())
    }
}

fn parse_pause(text: &str) -> Result<u64, ScheduleError> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let name = text.strip_prefix(digits).unwrap_or_default();
    let unit_ms = UNITS.iter().chain([&DAY]).find(|unit| unit.0 == name).map(|unit| unit.1);
    let (Some(unit_ms), Ok(count)) = (unit_ms, digits.parse::<u64>()) else {
        return Err(ScheduleError::Pause(text.to_owned()));
    };
    count
        .checked_mul(unit_ms)
        .filter(|pause_ms| (1..=PAUSE_MS_MAX).contains(pause_ms))
        .ok_or_else(|| ScheduleError::Span(text.to_owned()))
}

/// The units of a pause and their milliseconds, smallest first.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
/// The unit of a day in milliseconds. Accepted in input only; schedules are displayed in hours, such as `24h`.
const DAY: (&str, u64) = ("d", 86_400_000);

/// The first pause of the default schedule, in milliseconds.
const DEFAULT_FIRST_MS: u64 = 5000;

const PAUSES_MAX: usize = 32;
const PAUSE_MS_MAX: u64 = 30 * 86_400_000;

/// Divisor for the maximum jitter: 5 means that jitter adds at most a fifth of the pause.
const JITTER_DIVISOR: u128 = 5;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONTRACT: &str = "5s,5m,30m,2h,5h,10h,14h,20h,24h";

    #[test]
    fn the_default_is_the_published_schedule() {
        assert_eq!(RetrySchedule::default().to_string(), CONTRACT);
        assert_eq!(CONTRACT.parse(), Ok(RetrySchedule::default()));
    }

    #[test]
    fn the_schedule_ends_after_the_last_pause() {
        let schedule = RetrySchedule::default();
        assert_eq!(schedule.pause(1), Some(Duration::from_secs(5)));
        assert_eq!(schedule.pause(9), Some(Duration::from_hours(24)));
        assert_eq!(schedule.pause(10), None);
        assert_eq!(schedule.pause(u32::MAX), None);
        assert_eq!(schedule.pause(0), None);
    }

    #[test]
    fn errors_name_the_value_and_the_fix() {
        for (text, fault) in [
            ("", "name 1 to 32 pauses, separated by commas, such as 5s,5m,2h"),
            (&"1s,".repeat(33), "name 1 to 32 pauses, separated by commas, such as 5s,5m,2h"),
            ("5", "write the pause \"5\" as a whole number with ms, s, m, h or d, such as 5s"),
            (
                "1s,-5s",
                "write the pause \"-5s\" as a whole number with ms, s, m, h or d, such as 5s",
            ),
            (
                "1.5h",
                "write the pause \"1.5h\" as a whole number with ms, s, m, h or d, such as 5s",
            ),
            (
                "soon",
                "write the pause \"soon\" as a whole number with ms, s, m, h or d, such as 5s",
            ),
            ("5sé", "write the pause \"5sé\" as a whole number with ms, s, m, h or d, such as 5s"),
            ("0s", "choose the pause \"0s\" from 1ms to 30d"),
            ("31d", "choose the pause \"31d\" from 1ms to 30d"),
            ("9999999999999999999d", "choose the pause \"9999999999999999999d\" from 1ms to 30d"),
        ] {
            assert_eq!(text.parse::<RetrySchedule>().unwrap_err().to_string(), fault, "{text}");
        }
    }

    #[test]
    fn other_durations_shrink_with_a_short_schedule_and_never_grow() {
        let minute = Duration::from_mins(1);
        for (schedule, scaled) in [
            (CONTRACT, minute),
            ("1h,2h", minute),
            ("500ms,1h", Duration::from_secs(6)),
            ("10ms", Duration::from_millis(120)),
        ] {
            assert_eq!(schedule.parse::<RetrySchedule>().unwrap().scaled(minute), scaled);
        }
    }

    #[test]
    fn all_units_are_read() {
        let schedule: RetrySchedule = "250ms, 5s ,1m,1h,2d".parse().unwrap();
        assert_eq!(schedule.to_string(), "250ms,5s,1m,1h,48h");
    }

    proptest! {
        #[test]
        fn a_retry_is_never_early_and_at_most_a_fifth_late(
            pauses_ms in proptest::collection::vec(1..=PAUSE_MS_MAX, 1..=PAUSES_MAX),
            place in any::<prop::sample::Index>(),
            jitter in any::<u32>(),
        ) {
            let place = place.index(pauses_ms.len());
            let schedule = RetrySchedule { pauses_ms: pauses_ms.clone() };
            let pause = schedule.pause(u32::try_from(place).unwrap() + 1).unwrap();
            let wait = with_jitter(pause, jitter);
            let published = Duration::from_millis(pauses_ms[place]);
            prop_assert!(wait >= published && wait <= published * 6 / 5);
        }

        #[test]
        fn the_text_form_round_trips(
            pauses_ms in proptest::collection::vec(1..=PAUSE_MS_MAX, 1..=PAUSES_MAX),
        ) {
            let schedule = RetrySchedule { pauses_ms };
            prop_assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }

        #[test]
        fn parsing_never_panics(text in ".{0,60}") {
            drop(text.parse::<RetrySchedule>());
        }
    }
}
