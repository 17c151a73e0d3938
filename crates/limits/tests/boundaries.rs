//! Tests the limits at boundaries of time windows (ends of minutes, days, February and December), and with extreme
//! values.

#![expect(clippy::unwrap_used, reason = "a test's own constants parse")]

use std::time::Duration;

use chrono::{DateTime, Utc};
use sealpost_domain::{EnterpriseTerms, Plan, Refusal, Timestamp, Usage, Window, WindowUse};
use sealpost_limits::{
    MessageAdmission, OveragePolicy, Terms, admit_message, admit_request, report,
};

const AMPLE: Terms = Terms {
    per_minute: 1_000_000,
    per_day: 1_000_000,
    per_month: 1_000_000,
    per_second: 1_000_000,
    overage: OveragePolicy::HardBlock,
};

fn at(text: &str) -> Timestamp {
    Timestamp::from_millis(text.parse::<DateTime<Utc>>().unwrap().timestamp_millis())
}

fn refused_for(retry_after: Duration, window: Window, limit: u32) -> Result<(), Refusal> {
    Err(Refusal::RateLimited { window, limit, retry_after })
}

#[test]
fn the_plans_have_the_limits_of_the_contract() {
    let numbers = |plan: &Plan| {
        let terms = Terms::new(plan);
        (terms.per_minute, terms.per_day, terms.per_month, terms.per_second, terms.overage)
    };
    assert_eq!(numbers(&Plan::Explorer), (20, 1_000, 1_000, 10, OveragePolicy::HardBlock));
    assert_eq!(numbers(&Plan::Builder), (200, 10_000, 10_000, 100, OveragePolicy::HardBlock));
    assert_eq!(
        numbers(&Plan::Sovereign),
        (2_000, 100_000, 100_000, 1_000, OveragePolicy::ContactSales)
    );
    let agreed = |allow_overage| {
        let terms = EnterpriseTerms {
            per_minute: 1,
            per_day: 2,
            per_month: 3,
            per_second: 4,
            allow_overage,
        };
        Plan::Enterprise(terms)
    };
    assert_eq!(numbers(&agreed(false)), (1, 2, 3, 4, OveragePolicy::ContactSales));
    assert_eq!(numbers(&agreed(true)), (1, 2, 3, 4, OveragePolicy::Admit));
}

#[test]
fn a_minute_ends_with_its_last_millisecond() {
    let terms = Terms { per_minute: 1, ..AMPLE };
    let mut usage = Usage::UNUSED;
    let last = at("2026-05-04T10:07:59.999Z");
    assert!(admit_request(&terms, &mut usage, last).is_ok());
    assert_eq!(
        admit_request(&terms, &mut usage, last),
        refused_for(Duration::from_millis(1), Window::Minute, 1)
    );
    assert!(admit_request(&terms, &mut usage, at("2026-05-04T10:08:00.000Z")).is_ok());
}

#[test]
fn a_day_ends_at_midnight_utc() {
    let terms = Terms { per_day: 1, ..AMPLE };
    let mut usage = Usage::UNUSED;
    assert!(admit_request(&terms, &mut usage, at("2026-05-04T00:00:00.000Z")).is_ok());
    assert_eq!(
        admit_request(&terms, &mut usage, at("2026-05-04T23:59:58.500Z")),
        refused_for(Duration::from_millis(1_500), Window::Day, 1)
    );
    assert!(admit_request(&terms, &mut usage, at("2026-05-05T00:00:00.000Z")).is_ok());
}

#[test]
fn the_longer_wait_of_minute_and_day_is_reported() {
    let terms = Terms { per_minute: 1, per_day: 1, ..AMPLE };
    let mut usage = Usage::UNUSED;
    let noon = at("2026-05-04T12:00:00Z");
    assert!(admit_request(&terms, &mut usage, noon).is_ok());
    assert_eq!(
        admit_request(&terms, &mut usage, noon),
        refused_for(Duration::from_hours(12), Window::Day, 1)
    );
}

#[test]
fn february_has_29_days_in_a_leap_year_and_december_is_followed_by_january() {
    let resets_at = |text| report(&AMPLE, &Usage::UNUSED, at(text)).month.resets_at;
    assert_eq!(resets_at("2028-02-29T23:59:59.999Z"), at("2028-03-01T00:00:00Z"));
    assert_eq!(resets_at("2028-02-28T23:59:59.999Z"), at("2028-03-01T00:00:00Z"));
    assert_eq!(resets_at("2100-02-28T23:59:59.999Z"), at("2100-03-01T00:00:00Z"));
    assert_eq!(resets_at("2028-03-01T00:00:00Z"), at("2028-04-01T00:00:00Z"));
    assert_eq!(resets_at("2026-12-31T23:59:59.999Z"), at("2027-01-01T00:00:00Z"));
    assert_eq!(resets_at("2026-12-01T00:00:00Z"), at("2027-01-01T00:00:00Z"));
}

#[test]
fn the_allowance_resets_with_the_month() {
    let terms = Terms { per_month: 1, ..AMPLE };
    let mut usage = Usage::UNUSED;
    let leap_day = at("2028-02-29T12:00:00Z");
    assert_eq!(admit_message(&terms, &mut usage, leap_day), Ok(MessageAdmission::WithinAllowance));
    let refusal = admit_message(&terms, &mut usage, leap_day).unwrap_err();
    assert_eq!(refusal.retry_after_s(), Some(12 * 3600));
    assert_eq!(
        admit_message(&terms, &mut usage, at("2028-03-01T00:00:00Z")),
        Ok(MessageAdmission::WithinAllowance)
    );
}

#[test]
fn each_overage_policy_has_its_own_advice() {
    let past_the_allowance = |overage| {
        let terms = Terms { per_month: 0, overage, ..AMPLE };
        admit_message(&terms, &mut { Usage::UNUSED }, at("2026-05-04T12:00:00Z"))
    };
    assert_eq!(past_the_allowance(OveragePolicy::Admit), Ok(MessageAdmission::Overage));
    let hard = past_the_allowance(OveragePolicy::HardBlock).unwrap_err().to_string();
    assert!(hard.contains("upgrade the plan"), "{hard}");
    let sales = past_the_allowance(OveragePolicy::ContactSales).unwrap_err().to_string();
    assert!(sales.contains("ask the operator"), "{sales}");
}

#[test]
fn a_burst_of_one_second_is_followed_by_one_message_per_interval() {
    let terms = Terms { per_second: 10, ..AMPLE };
    let mut usage = Usage::UNUSED;
    let start = at("2026-05-04T12:00:00Z");
    let later = |millis| start.plus(Duration::from_millis(millis));
    for _ in 0..10 {
        assert!(admit_message(&terms, &mut usage, start).is_ok());
    }
    assert_eq!(
        admit_message(&terms, &mut usage, start),
        Err(Refusal::RateLimited {
            window: Window::Second,
            limit: 10,
            retry_after: Duration::from_millis(100)
        })
    );
    assert!(admit_message(&terms, &mut usage, later(99)).is_err());
    assert!(admit_message(&terms, &mut usage, later(100)).is_ok());
    assert!(admit_message(&terms, &mut usage, later(199)).is_err());
    assert!(admit_message(&terms, &mut usage, later(200)).is_ok());
}

#[test]
fn fractional_intervals_are_rounded_up() {
    let terms = Terms { per_second: 1_500, ..AMPLE };
    let mut usage = Usage::UNUSED;
    let start = at("2026-05-04T12:00:00Z");
    let mut count = 0;
    for millis in 0..=10_000 {
        while admit_message(&terms, &mut usage, start.plus(Duration::from_millis(millis))).is_ok() {
            count += 1;
        }
    }
    // A burst, and ten seconds at one message per 667 µs: slightly less than 1,500 per second.
    assert_eq!(count, 1_500 + 10_000_000 / 667);
}

#[test]
fn throughput_is_checked_first_but_the_longer_wait_is_reported() {
    let terms = Terms { per_second: 1, per_month: 1, ..AMPLE };
    let mut usage = Usage::UNUSED;
    let noon = at("2026-05-31T12:00:00Z");
    assert!(admit_message(&terms, &mut usage, noon).is_ok());
    assert_eq!(
        admit_message(&terms, &mut usage, noon),
        Err(Refusal::RateLimited {
            window: Window::Second,
            limit: 1,
            retry_after: Duration::from_hours(12)
        })
    );
    let overage = Terms { overage: OveragePolicy::Admit, ..terms };
    let refusal = admit_message(&overage, &mut usage, noon).unwrap_err();
    assert_eq!(refusal.retry_after_s(), Some(1));
}

#[test]
fn a_limit_of_zero_admits_nothing() {
    let now = at("2026-05-04T12:00:00Z");
    for terms in [Terms { per_minute: 0, ..AMPLE }, Terms { per_day: 0, ..AMPLE }] {
        assert!(admit_request(&terms, &mut { Usage::UNUSED }, now).is_err());
    }
    for terms in [Terms { per_second: 0, ..AMPLE }, Terms { per_month: 0, ..AMPLE }] {
        assert!(admit_message(&terms, &mut { Usage::UNUSED }, now).is_err());
    }
}

#[test]
fn a_smaller_plan_keeps_the_usage() {
    let now = at("2026-05-04T12:00:30Z");
    let mut usage = Usage::UNUSED;
    for _ in 0..150 {
        assert!(admit_request(&Terms::new(&Plan::Builder), &mut usage, now).is_ok());
    }
    let explorer = Terms::new(&Plan::Explorer);
    let minute = report(&explorer, &usage, now).minute;
    assert_eq!((minute.limit, minute.used, minute.remaining), (20, 150, 0));
    assert_eq!(
        admit_request(&explorer, &mut usage, now),
        refused_for(Duration::from_secs(30), Window::Minute, 20)
    );
    assert!(admit_request(&Terms::new(&Plan::Builder), &mut usage, now).is_ok());
}

#[test]
fn a_node_with_a_slow_clock_counts_in_the_window_that_began() {
    let terms = Terms { per_minute: 1, ..AMPLE };
    let mut usage = Usage::UNUSED;
    let (behind, ahead) = (at("2026-05-04T11:59:50Z"), at("2026-05-04T12:00:10Z"));
    assert!(admit_request(&terms, &mut usage, ahead).is_ok());
    assert_eq!(
        admit_request(&terms, &mut usage, behind),
        refused_for(Duration::from_secs(70), Window::Minute, 1)
    );
    assert_eq!(report(&terms, &usage, behind).minute.resets_at, at("2026-05-04T12:01:00Z"));
}

#[test]
fn a_window_counts_from_five_minutes_before_its_start() {
    let terms = Terms { per_minute: 1, per_day: 9, ..AMPLE };
    let mut usage = Usage::UNUSED;
    assert!(admit_request(&terms, &mut usage, at("2026-05-05T00:00:00Z")).is_ok());
    let (within, beyond) = (at("2026-05-04T23:55:00Z"), at("2026-05-04T23:54:59.999Z"));
    assert_eq!(
        admit_request(&terms, &mut usage, within),
        refused_for(Duration::from_mins(6), Window::Minute, 1)
    );
    let used = |usage: &Usage, now| {
        let report = report(&terms, usage, now);
        [report.minute, report.day].map(|window| (window.used, window.resets_at))
    };
    assert_eq!(
        used(&usage, within),
        [(1, at("2026-05-05T00:01:00Z")), (1, at("2026-05-06T00:00:00Z"))]
    );
    let resets = [at("2026-05-04T23:55:00Z"), at("2026-05-05T00:00:00Z")];
    assert_eq!(used(&usage, beyond), resets.map(|resets_at| (0, resets_at)));
    assert!(admit_request(&terms, &mut usage, beyond).is_ok());
    assert_eq!(used(&usage, beyond), resets.map(|resets_at| (1, resets_at)));
    assert!(admit_request(&terms, &mut usage, beyond).is_err());
}

#[test]
fn a_clock_a_year_ahead_refuses_no_request_once_corrected() {
    let terms = Terms { per_minute: 1, per_day: 1, per_month: 1, per_second: 1, ..AMPLE };
    let mut usage = Usage::UNUSED;
    for now in [at("2027-05-04T12:00:00Z"), at("2026-05-04T12:00:00Z")] {
        assert!(admit_request(&terms, &mut usage, now).is_ok());
        assert_eq!(admit_message(&terms, &mut usage, now), Ok(MessageAdmission::WithinAllowance));
        assert!(admit_request(&terms, &mut usage, now).is_err());
        assert!(admit_message(&terms, &mut usage, now).is_err());
    }
}

#[test]
fn throughput_waits_up_to_the_maximum_clock_difference() {
    let terms = Terms { per_second: 1, ..AMPLE };
    let noon = at("2026-05-04T12:00:00Z");
    let behind = |secs| noon.minus(Duration::from_secs(secs));
    let mut usage = Usage::UNUSED;
    assert!(admit_message(&terms, &mut usage, noon).is_ok());
    let refusal = admit_message(&terms, &mut usage, behind(300)).unwrap_err();
    assert_eq!(refusal.retry_after_s(), Some(301));
    // The longest burst of another plan may add a second.
    assert!(admit_message(&terms, &mut { usage }, behind(301)).is_err());
    assert!(admit_message(&terms, &mut { usage }, behind(302)).is_ok());
}

#[test]
fn a_report_has_the_json_of_the_contract() {
    let usage =
        Usage { month: WindowUse { start: at("2026-02-01T00:00:00Z"), used: 7 }, ..Usage::UNUSED };
    let report = report(&Terms::new(&Plan::Explorer), &usage, at("2026-02-14T09:30:15.250Z"));
    let window = |limit, used, resets_at| {
        serde_json::json!({
            "limit": limit, "used": used, "remaining": limit - used, "resets_at": resets_at,
        })
    };
    assert_eq!(
        serde_json::to_value(report).unwrap(),
        serde_json::json!({
            "minute": window(20, 0, "2026-02-14T09:31:00.000Z"),
            "day": window(1_000, 0, "2026-02-15T00:00:00.000Z"),
            "month": window(1_000, 7, "2026-03-01T00:00:00.000Z"),
        })
    );
}
