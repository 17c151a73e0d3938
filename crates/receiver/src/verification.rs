//! Verifies a received request, and explains in a report why a request cannot be verified.

mod fault;
mod hints;
mod report;
mod result;
mod signed_headers;

pub use fault::VerificationFault;
pub use report::{SignatureEntry, VerificationReport, explain};
pub use result::verify;
