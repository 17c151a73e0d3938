//! Charts of the dashboard: daily counts of messages and recent attempts as SVGs, and the usage of each limit as a
//! meter.

mod activity;
mod sparkline;
mod usage;

pub(super) use activity::ActivityChart;
pub(super) use sparkline::Sparkline;
pub(crate) use usage::{UsageMeter, usage_meters};
