//! Thresholds of the limits per day and per month: 80 % and 100 % of the limit.

use sealpost_domain::{
    ApiKeyId, ReachedThreshold, ThresholdWindow, Timestamp, Usage, UsageThreshold, WindowUse,
};

use crate::{Terms, window::Span};

/// Returns the thresholds (80 % or 100 % of a limit) that a key reaches by a change. `before` and `after` are the
/// limits and the usage before and after the change. A higher usage or a lower limit can reach a threshold. A limit of
/// 0 has no thresholds.
///
/// A key can reach the same threshold several times in one day or month, for example again after its limit was raised.
/// The store keeps only one event per threshold in the same day or month.
pub fn reached_thresholds(
    key: &ApiKeyId,
    before: (&Terms, &Usage),
    after: (&Terms, &Usage),
    now: Timestamp,
) -> Vec<ReachedThreshold> {
    let mut reached = Vec::new();
    for (window, span) in [(ThresholdWindow::Day, Span::Day), (ThresholdWindow::Month, Span::Month)]
    {
        let (limit_before, window_before) = window_use(window, before);
        let (limit, counted) = window_use(window, after);
        if limit == limit_before && counted == window_before {
            continue;
        }
        let used_before = span.current(window_before, now).used;
        let current = span.current(counted, now);
        for threshold in THRESHOLDS {
            if is_reached(threshold, limit, current.used)
                && !is_reached(threshold, limit_before, used_before)
            {
                reached.push(ReachedThreshold {
                    window_start: current.start,
                    at: now,
                    details: UsageThreshold {
                        api_key_id: *key,
                        window,
                        threshold,
                        used: current.used,
                        limit,
                        resets_at: span.end(current.start),
                    },
                });
            }
        }
    }
    reached
}

fn window_use(window: ThresholdWindow, (terms, usage): (&Terms, &Usage)) -> (u32, WindowUse) {
    match window {
        ThresholdWindow::Day => (terms.per_day, usage.day),
        ThresholdWindow::Month => (terms.per_month, usage.month),
    }
}

fn is_reached(threshold: u8, limit: u32, used: u32) -> bool {
    let bound = u64::from(limit).saturating_mul(u64::from(threshold));
    limit > 0 && u64::from(used).saturating_mul(100) >= bound
}

/// The thresholds, in percent of a usage limit.
const THRESHOLDS: [u8; 2] = [80, 100];

#[cfg(test)]
mod tests {
    use sealpost_domain::{EnterpriseTerms, Plan};

    use super::*;

    /// The start of 2026-01-01 (UTC) in milliseconds.
    const DAY: i64 = 1_767_225_600_000;

    fn terms(per_day: u32) -> Terms {
        Terms::new(&Plan::Enterprise(EnterpriseTerms {
            per_minute: 1,
            per_day,
            per_month: 0,
            per_second: 1,
            allow_overage: true,
        }))
    }

    fn usage(day: i64, used: u32) -> Usage {
        let day = WindowUse { start: Timestamp::from_millis(day), used };
        let month = WindowUse { start: Timestamp::from_millis(DAY), used };
        Usage { day, month, ..Usage::UNUSED }
    }

    fn reached(before: (u32, Usage), after: (u32, Usage)) -> Vec<(u8, u32, u32)> {
        let key = "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        let now = Timestamp::from_millis(DAY + 1);
        let (before_terms, after_terms) = (terms(before.0), terms(after.0));
        let all =
            reached_thresholds(&key, (&before_terms, &before.1), (&after_terms, &after.1), now);
        all.iter()
            .map(|it| {
                assert_eq!(
                    (it.details.window, it.window_start.as_millis()),
                    (ThresholdWindow::Day, DAY)
                );
                assert_eq!(it.details.resets_at.as_millis(), DAY + 86_400_000);
                (it.details.threshold, it.details.used, it.details.limit)
            })
            .collect()
    }

    #[test]
    fn thresholds_are_reached_by_usage_and_by_smaller_limits() {
        let today = |used| usage(DAY, used);
        let yesterday = |used| usage(DAY - 86_400_000, used);
        for (before, after, wanted) in [
            ((10, today(0)), (10, today(7)), &[][..]),
            ((10, today(7)), (10, today(8)), &[(80, 8, 10)]),
            ((10, today(8)), (10, today(9)), &[]),
            ((10, today(9)), (10, today(10)), &[(100, 10, 10)]),
            ((10, today(10)), (10, today(11)), &[]),
            ((10, today(0)), (10, today(12)), &[(80, 12, 10), (100, 12, 10)]),
            // 80 % of 3 are 2.4, so the threshold is reached with the third request.
            ((3, today(1)), (3, today(2)), &[]),
            ((3, today(2)), (3, today(3)), &[(80, 3, 3), (100, 3, 3)]),
            // The number of requests of yesterday has no effect.
            ((10, yesterday(9)), (10, today(1)), &[]),
            ((10, yesterday(9)), (10, today(8)), &[(80, 8, 10)]),
            ((100, yesterday(9)), (10, yesterday(9)), &[]),
            // Only the limit changes.
            ((100, today(8)), (10, today(8)), &[(80, 8, 10)]),
            ((10, today(8)), (100, today(8)), &[]),
            ((10, today(8)), (9, today(8)), &[]),
            ((0, today(8)), (0, today(9)), &[]),
            ((0, today(9)), (10, today(9)), &[(80, 9, 10)]),
            (
                (u32::MAX, today(0)),
                (u32::MAX, today(u32::MAX)),
                &[(80, u32::MAX, u32::MAX), (100, u32::MAX, u32::MAX)],
            ),
        ] {
            assert_eq!(reached(before, after), wanted, "{before:?} {after:?}");
        }
    }
}
