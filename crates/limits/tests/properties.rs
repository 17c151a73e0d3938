//! Compares the decisions of this crate with a simple reference model, the oracle. The oracle stores the time of every
//! admission, and counts these times.
//!
//! The requests arrive at two nodes, whose clocks differ by a constant. For the oracle, the time of a request is the
//! clock of its node, or the time of the last admission if that is later.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::{collections::HashMap, time::Duration};

use chrono::DateTime;
use proptest::{prelude::*, sample::select};
use sealpost_domain::{Code, Refusal, Timestamp, Usage, Window, WindowUse};
use sealpost_limits::{
    MessageAdmission, OveragePolicy, Terms, admit_message, admit_request, report,
};

/// The oracle: times of all admissions in milliseconds, oldest first.
#[derive(Default)]
struct Admissions(Vec<i64>);

impl Admissions {
    /// Returns `now` or the time of the last admission, if that is later.
    fn furthest(&self, now: i64) -> i64 {
        self.0.last().map_or(now, |last| now.max(*last))
    }

    fn admit(&mut self, now: i64) {
        self.0.push(self.furthest(now));
    }

    /// Counts the admissions in the window of the latest known time. `name` returns the name of a window, such as
    /// `2026-05-04` for a day.
    fn in_window(&self, name: fn(i64) -> String, now: i64) -> u32 {
        let window = name(self.furthest(now));
        let count = self.0.iter().filter(|at| name(**at) == window).count();
        u32::try_from(count).unwrap()
    }

    /// Returns the largest number of admissions in any one window. `name` returns the name of the window of a time.
    fn most(&self, name: fn(i64) -> String) -> u32 {
        let mut counts = HashMap::new();
        for at in &self.0 {
            *counts.entry(name(*at)).or_insert(0) += 1;
        }
        counts.into_values().max().unwrap_or(0)
    }
}

fn minute(millis: i64) -> String {
    named(millis, "%Y-%m-%dT%H:%M")
}

fn day(millis: i64) -> String {
    named(millis, "%Y-%m-%d")
}

fn month(millis: i64) -> String {
    named(millis, "%Y-%m")
}

fn named(millis: i64, format: &str) -> String {
    DateTime::from_timestamp_millis(millis).unwrap().format(format).to_string()
}

/// The oracle of the limit per second: a token bucket in exact arithmetic. A token has a million parts, and
/// `per_second` parts arrive per microsecond.
struct Bucket {
    per_second: i128,
    parts: i128,
    last_us: i128,
}

impl Bucket {
    const TOKEN: i128 = 1_000_000;

    fn full(per_second: u32) -> Self {
        let per_second = i128::from(per_second);
        Self { per_second, parts: per_second * Self::TOKEN, last_us: 0 }
    }

    fn parts_at(&self, now: i64) -> i128 {
        let since_us = i128::from(now) * 1000 - self.last_us;
        (self.parts + since_us * self.per_second).min(self.per_second * Self::TOKEN)
    }

    fn has_token(&self, now: i64) -> bool {
        self.parts_at(now) >= Self::TOKEN
    }

    fn take(&mut self, now: i64) {
        self.parts = self.parts_at(now) - Self::TOKEN;
        self.last_us = i128::from(now) * 1000;
    }
}

/// Generates arrival times of requests in milliseconds, by the clock of the node that receives the request.
fn arrivals(paces: &'static [i64]) -> impl Strategy<Value = Vec<i64>> {
    let begin = select(&[
        "2026-05-04T11:59:58Z",
        "2026-05-04T23:59:50Z",
        "2026-12-31T23:59:30Z",
        "2028-02-28T23:59:57Z",
        "2028-02-29T23:59:59Z",
        "2099-12-31T23:59:59Z",
    ]);
    let step = (select(paces), 0..=100_i64, any::<bool>());
    (begin, select(CLOCK_SKEWS_MS), prop::collection::vec(step, 1..150)).prop_map(
        |(begin, skew_ms, steps)| {
            let mut now = DateTime::parse_from_rfc3339(begin).unwrap().timestamp_millis();
            let at_a_node = |(pace, percent, is_second): (i64, i64, bool)| {
                now += pace * percent / 100;
                if is_second { now + skew_ms } else { now }
            };
            steps.into_iter().map(at_a_node).collect()
        },
    )
}

/// Maximum gaps between two arrivals in milliseconds: from none to about a week.
const BUSY_AND_IDLE: &[i64] = &[0, 5, 900, 70_000, 3_600_000, 600_000_000];
/// Maximum gaps between two arrivals in milliseconds: from none to half a second.
const BUSY: &[i64] = &[0, 1, 5, 120, 500];
/// Differences between the clocks of the two nodes in milliseconds, up to the maximum of five minutes.
const CLOCK_SKEWS_MS: &[i64] = &[0, -3, 250, -1_500, 45_000, -90_000, -300_000, 300_000];

fn terms() -> impl Strategy<Value = Terms> {
    let overage =
        select(&[OveragePolicy::Admit, OveragePolicy::ContactSales, OveragePolicy::HardBlock]);
    (0..6_u32, 0..20_u32, 0..25_u32, rates(), overage).prop_map(
        |(per_minute, per_day, per_month, per_second, overage)| Terms {
            per_minute,
            per_day,
            per_month,
            per_second,
            overage,
        },
    )
}

/// Generates limits per second for which the interval between two messages is a whole number of microseconds.
fn rates() -> impl Strategy<Value = u32> {
    select(&[1, 2, 4, 5, 10, 64, 100, 1_000, 1_000_000])
}

/// Checks the wait in a refusal. After the wait, also in whole seconds, the request is admitted. One millisecond
/// earlier it is not.
fn the_wait_is_exact(
    refusal: &Refusal,
    now: Timestamp,
    mut is_admitted: impl FnMut(Timestamp) -> bool,
) -> Result<(), TestCaseError> {
    let (limit, retry_after) = match refusal {
        Refusal::RateLimited { limit, retry_after, .. }
        | Refusal::MonthlyLimitExceeded { limit, retry_after, .. } => (*limit, *retry_after),
        other => return Err(TestCaseError::fail(other.to_string())),
    };
    prop_assert!(limit > 0 && retry_after > Duration::ZERO);
    prop_assert!(is_admitted(now.plus(Duration::from_secs(refusal.retry_after_s().unwrap()))));
    prop_assert!(is_admitted(now.plus(retry_after)));
    prop_assert!(!is_admitted(now.plus(retry_after.saturating_sub(Duration::from_millis(1)))));
    Ok(())
}

proptest! {
    #[test]
    fn requests_are_admitted_exactly_as_by_the_oracle(
        terms in terms(),
        arrivals in arrivals(BUSY_AND_IDLE),
    ) {
        let mut usage = Usage::UNUSED;
        let mut admitted = Admissions::default();
        for at in arrivals {
            let (before, now) = (usage, Timestamp::from_millis(at));
            let has_room = admitted.in_window(minute, at) < terms.per_minute
                && admitted.in_window(day, at) < terms.per_day;
            match admit_request(&terms, &mut usage, now) {
                Ok(()) => {
                    prop_assert!(has_room);
                    admitted.admit(at);
                }
                Err(refusal) => {
                    prop_assert!(!has_room);
                    prop_assert_eq!(usage, before);
                    if terms.per_minute > 0 && terms.per_day > 0 {
                        the_wait_is_exact(&refusal, now, |then| {
                            admit_request(&terms, &mut { before }, then).is_ok()
                        })?;
                    }
                }
            }
            let report = report(&terms, &usage, now);
            prop_assert_eq!(report.minute.used, admitted.in_window(minute, at));
            prop_assert_eq!(report.day.used, admitted.in_window(day, at));
            prop_assert_eq!(report.day.remaining, terms.per_day - report.day.used);
            prop_assert!(report.minute.resets_at > now && report.day.resets_at > now);
        }
        prop_assert!(admitted.most(minute) <= terms.per_minute);
        prop_assert!(admitted.most(day) <= terms.per_day);
    }

    #[test]
    fn messages_are_admitted_exactly_as_by_the_oracle(
        terms in terms(),
        arrivals in prop_oneof![arrivals(BUSY_AND_IDLE), arrivals(BUSY)],
    ) {
        let mut usage = Usage::UNUSED;
        usage.throughput_tat_us = i64::MIN;
        let mut admitted = Admissions::default();
        let mut bucket = Bucket::full(terms.per_second);
        bucket.last_us = i128::from(i64::MIN);
        for at in arrivals {
            let (before, now) = (usage, Timestamp::from_millis(at));
            let used = admitted.in_window(month, at);
            let verdict = admit_message(&terms, &mut usage, now);
            match &verdict {
                Ok(grounds) => {
                    let is_within = used < terms.per_month;
                    prop_assert!(bucket.has_token(at));
                    prop_assert_eq!(*grounds == MessageAdmission::WithinAllowance, is_within);
                    prop_assert!(is_within || terms.overage == OveragePolicy::Admit);
                    admitted.admit(at);
                    bucket.take(at);
                }
                Err(Refusal::RateLimited { window: Window::Second, .. }) => {
                    prop_assert!(!bucket.has_token(at));
                }
                Err(refusal) => {
                    prop_assert_eq!(refusal.code(), Code::MonthlyLimitExceeded);
                    prop_assert!(bucket.has_token(at) && used >= terms.per_month);
                    prop_assert!(terms.overage != OveragePolicy::Admit);
                }
            }
            if let Err(refusal) = verdict {
                prop_assert_eq!(usage, before);
                if terms.per_month > 0 {
                    the_wait_is_exact(&refusal, now, |then| {
                        admit_message(&terms, &mut { before }, then).is_ok()
                    })?;
                }
            }
        }
        prop_assert!(terms.overage == OveragePolicy::Admit || admitted.most(month) <= terms.per_month);
    }

    #[test]
    fn no_rate_is_ever_exceeded(
        per_second in prop_oneof![1..50_u32, 1..5_000_u32],
        arrivals in arrivals(BUSY),
    ) {
        let terms = Terms {
            per_minute: 0,
            per_day: 0,
            per_month: u32::MAX,
            per_second,
            overage: OveragePolicy::HardBlock,
        };
        let mut usage = Usage::UNUSED;
        let mut admitted = Admissions::default();
        for at in arrivals {
            let (before, now) = (usage, Timestamp::from_millis(at));
            match admit_message(&terms, &mut usage, now) {
                Ok(_) => admitted.admit(at),
                Err(refusal) => the_wait_is_exact(&refusal, now, |then| {
                    admit_message(&terms, &mut { before }, then).is_ok()
                })?,
            }
        }
        // In any interval: at most one burst plus the rate times the length.
        let rate = i128::from(per_second);
        for (first, from) in admitted.0.iter().enumerate() {
            for (to, count) in admitted.0.iter().skip(first).zip(1_i128..) {
                prop_assert!((count - rate) * 1000 <= i128::from(to - from) * rate);
            }
        }
    }

    #[test]
    fn a_clock_far_ahead_has_no_lasting_effect(
        terms in terms(),
        ahead_ms in prop_oneof![40 * DAY_MS..400 * DAY_MS, 1_000 * DAY_MS..90_000 * DAY_MS],
        glitch in 1..30_usize,
        arrivals in prop_oneof![arrivals(BUSY_AND_IDLE), arrivals(BUSY)],
    ) {
        let ahead = Timestamp::from_millis(arrivals[0] + ahead_ms);
        let mut usage = Usage::UNUSED;
        for _ in 0..glitch {
            drop(admit_request(&terms, &mut usage, ahead));
            drop(admit_message(&terms, &mut usage, ahead));
        }
        let mut unused = Usage::UNUSED;
        // Until shortly before the time that the wrong clock showed.
        for at in arrivals.into_iter().take_while(|at| *at < ahead.as_millis() - 35 * DAY_MS) {
            let now = Timestamp::from_millis(at);
            prop_assert_eq!(report(&terms, &usage, now), report(&terms, &unused, now));
            prop_assert_eq!(
                admit_request(&terms, &mut usage, now),
                admit_request(&terms, &mut unused, now)
            );
            prop_assert_eq!(
                admit_message(&terms, &mut usage, now),
                admit_message(&terms, &mut unused, now)
            );
        }
    }

    #[test]
    fn no_wait_exceeds_a_window_plus_the_clock_difference(
        starts in prop::array::uniform3(1_790_000_000_000..1_990_000_000_000_i64),
        used in 0..4_u32,
        tat_ms in 1_790_000_000_000..1_990_000_000_000_i64,
        before_ms in prop_oneof![0..1_000_000_i64, 0..200_000_000_000_i64],
        which in 0..4_usize,
    ) {
        let [minute, day, month] =
            starts.map(|start| WindowUse { start: Timestamp::from_millis(start), used });
        let usage = Usage { minute, day, month, throughput_tat_us: tat_ms * 1000 };
        let near = [starts[0], starts[1], starts[2], tat_ms];
        let now = Timestamp::from_millis(near[which] - before_ms);
        let one = Terms {
            per_minute: 1,
            per_day: 1,
            per_month: 1,
            per_second: 1,
            overage: OveragePolicy::HardBlock,
        };
        let apart = Duration::from_mins(5);
        let request = admit_request(&one, &mut { usage }, now).err();
        let message = admit_message(&one, &mut { usage }, now).err();
        for refusal in [request, message].into_iter().flatten() {
            let (wait, window) = match refusal {
                Refusal::RateLimited { window: Window::Minute, retry_after, .. } => {
                    (retry_after, Duration::from_mins(1))
                }
                Refusal::RateLimited { window: Window::Day, retry_after, .. } => {
                    (retry_after, Duration::from_hours(24))
                }
                Refusal::RateLimited { retry_after, .. }
                | Refusal::MonthlyLimitExceeded { retry_after, .. } => {
                    (retry_after, Duration::from_hours(31 * 24))
                }
                other => return Err(TestCaseError::fail(other.to_string())),
            };
            prop_assert!(wait <= window + apart, "{wait:?}");
        }
    }

    #[test]
    fn a_change_of_plan_keeps_the_usage(
        phases in prop::collection::vec((terms(), 1..12_usize), 1..6),
    ) {
        let now = Timestamp::from_millis(1_767_225_600_000);
        let (mut usage, mut requests, mut messages) = (Usage::UNUSED, 0, 0);
        for (terms, attempts) in phases {
            for _ in 0..attempts {
                let has_room = requests < terms.per_minute.min(terms.per_day);
                prop_assert_eq!(admit_request(&terms, &mut usage, now).is_ok(), has_room);
                requests += u32::from(has_room);
                messages += u32::from(admit_message(&terms, &mut usage, now).is_ok());
            }
            let report = report(&terms, &usage, now);
            prop_assert_eq!((report.minute.used, report.month.used), (requests, messages));
            prop_assert_eq!(report.minute.remaining, terms.per_minute.saturating_sub(requests));
            prop_assert_eq!(report.month.remaining, terms.per_month.saturating_sub(messages));
        }
    }

    #[test]
    fn no_numbers_cause_a_panic(
        limits in any::<[u32; 4]>(),
        starts in prop::array::uniform3(instants()),
        used in any::<[u32; 3]>(),
        throughput_tat_us in instants(),
        now in instants(),
        overage in select(&[OveragePolicy::Admit, OveragePolicy::ContactSales, OveragePolicy::HardBlock]),
    ) {
        let [per_minute, per_day, per_month, per_second] = limits.map(|n| n.saturating_sub(9));
        let terms = Terms { per_minute, per_day, per_month, per_second, overage };
        let [minute, day, month] = [0, 1, 2].map(|i: usize| WindowUse {
            start: Timestamp::from_millis(starts[i]),
            used: used[i],
        });
        let before = Usage { minute, day, month, throughput_tat_us };
        let now = Timestamp::from_millis(now);
        let mut usage = before;
        let request = admit_request(&terms, &mut usage, now);
        prop_assert!(request.is_ok() || usage == before);
        prop_assert!(request.is_err() || (per_minute > 0 && per_day > 0));
        let before = usage;
        let message = admit_message(&terms, &mut usage, now);
        prop_assert!(message.is_ok() || usage == before);
        prop_assert!(message.is_err() || per_second > 0);
        for refusal in [request.err(), message.err()].into_iter().flatten() {
            prop_assert!(refusal.retry_after_s() >= Some(1));
        }
        prop_assert!(serde_json::to_string(&report(&terms, &usage, now)).is_ok());
    }
}

const DAY_MS: i64 = 86_400_000;

/// Generates times as `i64`, often extreme values.
fn instants() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        select(&[i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]),
        1_700_000_000_000..1_800_000_000_000_i64,
        1_700_000_000_000_000..1_800_000_000_000_000_i64,
    ]
}
