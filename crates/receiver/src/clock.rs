//! The clock of the operating system.

use std::time::{SystemTime, UNIX_EPOCH};

use sealpost_domain::{Clock, Timestamp};

/// The clock of the operating system, for applications without a [`Clock`] implementation. Returns the Unix epoch if
/// the system time is before 1970.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is a clock")]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}
