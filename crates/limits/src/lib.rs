//! Plans, windows, throughput: the decision whether a request is admitted.
//!
//! Pure: what was used and the present instant go in, a verdict and what is used now come out. Whoever stores the
//! [`Usage`](sealpost_domain::Usage) locks it, decides, and writes it back in one transaction; then no more than
//! the limit is admitted however many nodes serve the key, as long as their clocks are no more than five minutes apart.
//!
//! ```
//! use sealpost_domain::{Plan, Timestamp, Usage};
//! use sealpost_limits::{MessageAdmission, Terms, admit_message, admit_request, report};
//!
//! let terms = Terms::of(&Plan::Explorer);
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
mod throughput;
mod window;

pub use admit::{MessageAdmission, admit_message, admit_request};
pub use report::{UsageReport, WindowReport, report};
pub use terms::{OveragePolicy, Terms};
