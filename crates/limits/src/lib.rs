//! Rate limits of plans: decides whether a request or a message is admitted.
//!
//! The functions are pure: their inputs are the usage and the current time, and their results are a decision and the
//! new usage. The caller locks the [`Usage`](sealpost_domain::Usage) in the database, calls this crate, and writes the
//! usage back in the same transaction. Then the limits are exact across nodes, if the clocks of the nodes differ by at
//! most five minutes.
//!
//! ```
//! use sealpost_domain::{Plan, Timestamp, Usage};
//! use sealpost_limits::{MessageAdmission, Terms, admit_message, admit_request, report};
//!
//! let terms = Terms::new(&Plan::Explorer);
//! let mut usage = Usage::UNUSED;
//! let now = Timestamp::from_millis(1_767_225_600_000);
//!
//! admit_request(&terms, &mut usage, now)?;
//! assert_eq!(admit_message(&terms, &mut usage, now)?, MessageAdmission::WithinAllowance);
//! assert_eq!(report(&terms, &usage, now).month.remaining, 999);
//! # Ok::<(), sealpost_domain::Refusal>(())
//! ```

mod admit;
mod report;
mod terms;
mod thresholds;
mod throughput;
mod window;

pub use admit::{MessageAdmission, admit_message, admit_request};
pub use report::{UsageReport, WindowReport, report};
pub use terms::{OveragePolicy, Terms};
pub use thresholds::reached_thresholds;
