//! Charts of the dashboard: daily counts of messages as an SVG, and the usage of each limit as a meter.

mod activity;
mod usage;

pub(super) use activity::ActivityChart;
pub(crate) use usage::{UsageMeter, usage_meters};
