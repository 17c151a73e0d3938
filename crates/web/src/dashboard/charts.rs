//! The charts of the dashboard: SVG charts of daily counts and of the recent attempts at a webhook, and meters for the
//! usage of each limit.

mod activity;
mod sparkline;
mod usage;

pub(super) use activity::ActivityChart;
pub(super) use sparkline::Sparkline;
pub(crate) use usage::{UsageMeter, usage_meters};
