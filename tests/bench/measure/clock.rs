//! The time of the machine: a receiver judges timestamps by it, and what is stored must not be older than it is kept.

use std::time::SystemTime;

use sealpost_domain::Timestamp;

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::UNIX_EPOCH.elapsed().expect("it is after 1970");
    Timestamp::from_millis(i64::try_from(since.as_millis()).expect("a year that we know"))
}
