//! Rows of usage: the counters of each API key, and its messages above the monthly allowance.

use diesel::Queryable;
use sealpost_domain::{ApiKeyId, Timestamp, Usage, WindowUse, ports::OverageCount};

use crate::{
    connection::query_error::QueryError,
    query::row_types::stored_row,
    rows::columns::number,
    schema::{overages, usage},
};

stored_row! {
    /// The usage counters of an API key for the current minute, day and month.
    #[derive(Queryable)]
    pub(crate) struct UsageRow in usage {
        api_key_id: String,
        minute_start: i64,
        minute_used: i64,
        day_start: i64,
        day_used: i64,
        month_start: i64,
        month_used: i64,
        throughput_tat_us: i64,
    }
}

impl UsageRow {
    pub(crate) fn new(key: &ApiKeyId, used: &Usage) -> Self {
        Self {
            api_key_id: key.to_string(),
            minute_start: used.minute.start.as_millis(),
            minute_used: used.minute.used.into(),
            day_start: used.day.start.as_millis(),
            day_used: used.day.used.into(),
            month_start: used.month.start.as_millis(),
            month_used: used.month.used.into(),
            throughput_tat_us: used.throughput_tat_us,
        }
    }

    pub(crate) fn read(&self) -> Result<Usage, QueryError> {
        let window = |start, used| {
            let start = Timestamp::from_millis(start);
            Ok::<_, QueryError>(WindowUse { start, used: number(used, "usage")? })
        };
        Ok(Usage {
            minute: window(self.minute_start, self.minute_used)?,
            day: window(self.day_start, self.day_used)?,
            month: window(self.month_start, self.month_used)?,
            throughput_tat_us: self.throughput_tat_us,
        })
    }
}

stored_row! {
    /// The number of messages above the monthly allowance of an API key in one month.
    pub(crate) struct OverageRow in overages {
        api_key_id: String,
        month: i64,
        messages: i64,
    }
}

impl From<&OverageCount> for OverageRow {
    fn from(overage: &OverageCount) -> Self {
        Self {
            api_key_id: overage.key.to_string(),
            month: overage.month.as_millis(),
            messages: overage.messages.into(),
        }
    }
}
