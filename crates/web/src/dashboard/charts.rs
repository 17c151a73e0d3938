//! The charts of the dashboard: SVG charts of daily numbers and of the recent delivery attempts to a webhook, and
//! meters for the usage of each limit.

mod days;
mod sparkline;
mod usage;

pub(super) use days::{ChartDay, DayChart};
pub(super) use sparkline::Sparkline;
pub(crate) use usage::{UsageMeter, usage_meters};
