//! Compares the clocks of this machine and of the database. Limits, sessions and signatures depend on correct clocks.

use sealpost_domain::{Clock as _, Timestamp};
use sealpost_storage::ServerInfo;

use crate::{clock::SystemClock, doctor::finding::Finding};

pub(super) fn check(server: Option<&ServerInfo>) -> Finding {
    let now = SystemClock.now();
    judge(now, server.map(|server| server.now))
}

fn judge(now: Timestamp, database: Option<Timestamp>) -> Finding {
    if now < RELEASED {
        let text = format!(
            "the clock of this machine is at {now}, which is in the past: set it, and synchronise it by NTP"
        );
        return Finding::fail("clock", text);
    }
    let Some(database) = database else { return Finding::ok("clock", format!("it is {now}")) };
    let difference_ms = now.as_millis().abs_diff(database.as_millis());
    match difference_ms {
        0..DIFFERENCE_LOW_MS => {
            Finding::ok("clock", format!("it is {now}; the database has {database}"))
        }
        DIFFERENCE_LOW_MS..DIFFERENCE_MAX_MS => Finding::warn(
            "clock",
            format!(
                "this clock and the database's clock differ by {difference_ms} ms: synchronise both by NTP"
            ),
        ),
        _ => Finding::fail(
            "clock",
            format!(
                "this clock and the database's clock differ by {difference_ms} ms: set the wrong clock"
            ),
        ),
    }
}

/// 2026-01-01, before the first release. A clock that shows an earlier time is wrong.
const RELEASED: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// Smallest difference of the two clocks that causes a warning, in milliseconds. The measured difference includes the
/// round trip to the database.
const DIFFERENCE_LOW_MS: u64 = 1000;
const DIFFERENCE_MAX_MS: u64 = 5000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Verdict;

    #[test]
    fn a_wrong_clock_warns_or_fails() {
        let at = |millis: i64| Timestamp::from_millis(RELEASED.as_millis() + 100_000 + millis);
        assert_eq!(judge(at(0), None).verdict, Verdict::Ok);
        for (database_ms, verdict) in [
            (0, Verdict::Ok),
            (-999, Verdict::Ok),
            (1000, Verdict::Warn),
            (-4999, Verdict::Warn),
            (5000, Verdict::Fail),
            (-5000, Verdict::Fail),
        ] {
            assert_eq!(judge(at(0), Some(at(database_ms))).verdict, verdict, "{database_ms}");
        }
        let past = Timestamp::from_millis(0);
        assert_eq!(judge(past, Some(past)).verdict, Verdict::Fail);
    }
}
