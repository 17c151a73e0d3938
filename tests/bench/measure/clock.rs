//! The clock of the machine. Receivers compare timestamps with this clock, and retention deletes older
//! envelopes.

use std::time::SystemTime;

use sealpost_domain::Timestamp;

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::UNIX_EPOCH.elapsed().expect("the clock is after 1970");
    Timestamp::from_millis(i64::try_from(since.as_millis()).expect("the time fits"))
}
