//! Housekeeping: retention, and wrong clocks.

mod clocks;
mod retention;
