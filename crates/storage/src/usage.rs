//! What keys have used.

use diesel::prelude::*;
use sealpost_domain::{ApiKeyId, Timestamp, Usage, WindowUse};

use crate::{columns::number, fault::Fault, schema::usage};

/// As in the table.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = usage)]
pub(crate) struct UsageRow {
    pub(crate) api_key_id: String,
    pub(crate) minute_start: i64,
    pub(crate) minute_used: i64,
    pub(crate) day_start: i64,
    pub(crate) day_used: i64,
    pub(crate) month_start: i64,
    pub(crate) month_used: i64,
    pub(crate) throughput_tat_us: i64,
}

impl UsageRow {
    pub(crate) fn of(key: &ApiKeyId, used: &Usage) -> Self {
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

    pub(crate) fn read(&self) -> Result<Usage, Fault> {
        let window = |start, used| {
            let start = Timestamp::from_millis(start);
            Ok::<_, Fault>(WindowUse { start, used: number(used, "usage")? })
        };
        Ok(Usage {
            minute: window(self.minute_start, self.minute_used)?,
            day: window(self.day_start, self.day_used)?,
            month: window(self.month_start, self.month_used)?,
            throughput_tat_us: self.throughput_tat_us,
        })
    }
}
