//! Verifies a received request, and explains in a report why a request cannot be verified.

mod hints;
mod report;
mod result;

pub use report::{SignatureEntry, VerificationReport, explain};
pub use result::{VerificationError, verify};
