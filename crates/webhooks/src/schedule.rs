//! When a failed attempt is tried again. Pure: the random number that spreads retries comes from the caller.

use std::{fmt, str::FromStr, time::Duration};

/// The pauses between attempts: the first attempt is at once, the next one follows after the first pause, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySchedule {
    pauses_ms: Vec<u64>,
}

impl RetrySchedule {
    /// How long to wait after `attempts_made` attempts; `None` once the schedule is used up. `jitter`, any number,
    /// adds up to a fifth and takes nothing away, so that no retry comes before its published time.
    pub fn next(&self, attempts_made: u32, jitter: u32) -> Option<Duration> {
        Some(spread(self.pause(attempts_made)?, jitter))
    }

    /// A span that suits the contract's schedule, shortened in proportion where the first pause of this one is
    /// shorter: whoever retries sooner wants to see everything else sooner too.
    pub fn scaled(&self, span: Duration) -> Duration {
        let first_ms = self.pauses_ms.first().copied().unwrap_or(FIRST_MS).min(FIRST_MS);
        let span_ms = span.as_millis() * u128::from(first_ms) / u128::from(FIRST_MS);
        Duration::from_millis(u64::try_from(span_ms).unwrap_or(u64::MAX))
    }

    /// The published pause after `attempts_made` attempts.
    pub(crate) fn pause(&self, attempts_made: u32) -> Option<Duration> {
        let place = usize::try_from(attempts_made.checked_sub(1)?).ok()?;
        self.pauses_ms.get(place).copied().map(Duration::from_millis)
    }
}

/// A pause and up to a fifth more.
pub(crate) fn spread(pause: Duration, jitter: u32) -> Duration {
    let full_scale = u128::from(u32::MAX) * JITTER_SHARE;
    let extra_ms = pause.as_millis() * u128::from(jitter) / full_scale;
    pause.saturating_add(Duration::from_millis(u64::try_from(extra_ms).unwrap_or(u64::MAX)))
}

/// A text that is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleFault {
    /// No pause, or more than 32 of them.
    #[error("name 1 to 32 pauses, separated by commas, such as 5s,5m,2h")]
    Count,
    /// A pause that is no number with a unit.
    #[error("write the pause \"{0}\" as a whole number with ms, s, m, h or d, such as 5s")]
    Pause(String),
    /// A pause of nothing at all, or of more than 30 days.
    #[error("choose the pause \"{0}\" from 1ms to 30d")]
    Span(String),
}

impl FromStr for RetrySchedule {
    type Err = ScheduleFault;

    fn from_str(text: &str) -> Result<Self, ScheduleFault> {
        let pauses = || text.split(',').map(str::trim).filter(|pause| !pause.is_empty());
        if !(1..=PAUSES_MAX).contains(&pauses().count()) {
            return Err(ScheduleFault::Count);
        }
        let pauses_ms = pauses().map(parse_pause).collect::<Result<_, _>>()?;
        Ok(Self { pauses_ms })
    }
}

impl Default for RetrySchedule {
    /// The contract's, which is that of Standard Webhooks: ten attempts in three days and a bit.
    fn default() -> Self {
        let pauses_s = [5, 5 * 60, 30 * 60, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
        Self { pauses_ms: pauses_s.map(|pause_s: u64| pause_s * 1000).to_vec() }
    }
}

impl fmt::Display for RetrySchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, pause_ms) in self.pauses_ms.iter().enumerate() {
            let separator = if place == 0 { "" } else { "," };
            let divides = |unit: &&(&str, u64)| pause_ms % unit.1 == 0;
            let (name, unit_ms) = UNITS.iter().rfind(divides).unwrap_or(&("ms", 1));
            write!(f, "{separator}{}{name}", pause_ms / unit_ms)?;
        }
        Ok(())
    }
}

fn parse_pause(text: &str) -> Result<u64, ScheduleFault> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let name = text.strip_prefix(digits).unwrap_or_default();
    let unit_ms = UNITS.iter().chain([&DAY]).find(|unit| unit.0 == name).map(|unit| unit.1);
    let (Some(unit_ms), Ok(count)) = (unit_ms, digits.parse::<u64>()) else {
        return Err(ScheduleFault::Pause(text.to_owned()));
    };
    count
        .checked_mul(unit_ms)
        .filter(|pause_ms| (1..=PAUSE_MS_MAX).contains(pause_ms))
        .ok_or_else(|| ScheduleFault::Span(text.to_owned()))
}

/// Smallest first.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
/// Read but never written, since the contract writes `24h`.
const DAY: (&str, u64) = ("d", 86_400_000);

/// The first pause of the contract's schedule.
const FIRST_MS: u64 = 5000;

const PAUSES_MAX: usize = 32;
const PAUSE_MS_MAX: u64 = 30 * 86_400_000;

/// Jitter adds at most this part of a pause.
const JITTER_SHARE: u128 = 5;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONTRACT: &str = "5s,5m,30m,2h,5h,10h,14h,20h,24h";

    #[test]
    fn the_default_is_the_contracts() {
        assert_eq!(RetrySchedule::default().to_string(), CONTRACT);
        assert_eq!(CONTRACT.parse(), Ok(RetrySchedule::default()));
    }

    #[test]
    fn it_ends_after_the_last_pause() {
        let schedule = RetrySchedule::default();
        assert_eq!(schedule.next(1, 0), Some(Duration::from_secs(5)));
        assert_eq!(schedule.next(9, 0), Some(Duration::from_hours(24)));
        assert_eq!(schedule.next(10, 0), None);
        assert_eq!(schedule.next(u32::MAX, 0), None);
        assert_eq!(schedule.next(0, 0), None);
    }

    #[test]
    fn faults_say_what_to_do() {
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
    fn other_spans_shrink_with_a_short_schedule_and_never_grow() {
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
    fn every_unit_is_read() {
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
            let wait = schedule.next(u32::try_from(place).unwrap() + 1, jitter).unwrap();
            let published = Duration::from_millis(pauses_ms[place]);
            prop_assert!(wait >= published && wait <= published * 6 / 5);
        }

        #[test]
        fn what_is_written_is_read_back(
            pauses_ms in proptest::collection::vec(1..=PAUSE_MS_MAX, 1..=PAUSES_MAX),
        ) {
            let schedule = RetrySchedule { pauses_ms };
            prop_assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,60}") {
            drop(text.parse::<RetrySchedule>());
        }
    }
}
