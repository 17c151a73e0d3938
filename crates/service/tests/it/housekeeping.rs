//! Tests of housekeeping: retention times, and wrong clocks.

mod clocks;
mod retention;
