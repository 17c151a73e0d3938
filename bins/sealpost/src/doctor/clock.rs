//! The clock: limits, sessions and signatures depend on it, and nodes must agree.

use sealpost_domain::{Clock as _, Timestamp};
use sealpost_node::SystemClock;
use sealpost_storage::ServerInfo;

use crate::doctor::finding::Finding;

pub(super) fn look(server: Option<&ServerInfo>) -> Finding {
    let now = SystemClock.now();
    judge(now, server.map(|server| server.now))
}

fn judge(now: Timestamp, database: Option<Timestamp>) -> Finding {
    if now < WRITTEN {
        let text =
            format!("this machine thinks it is {now}, which is past; set it, and keep it by NTP");
        return Finding::fail("clock", text);
    }
    let Some(database) = database else { return Finding::ok("clock", format!("it is {now}")) };
    let apart_ms = now.as_millis().abs_diff(database.as_millis());
    match apart_ms {
        0..APART_MS => {
            Finding::ok("clock", format!("it is {now}, and for the database {database}"))
        }
        APART_MS..APART_MOST_MS => Finding::warn(
            "clock",
            format!("this clock and the database's are {apart_ms} ms apart; keep both by NTP"),
        ),
        _ => Finding::fail(
            "clock",
            format!(
                "this clock and the database's are {apart_ms} ms apart; set the one that is wrong"
            ),
        ),
    }
}

/// 2026-01-01: nobody runs this before it was written.
const WRITTEN: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// The way to the database and back is part of what is measured.
const APART_MS: u64 = 1000;
const APART_MOST_MS: u64 = 5000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Verdict;

    #[test]
    fn a_clock_that_is_wrong_is_said() {
        let at = |millis: i64| Timestamp::from_millis(WRITTEN.as_millis() + 100_000 + millis);
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
