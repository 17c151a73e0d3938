//! Verification of a request: the result, and the report that explains it.

mod fault;
mod hints;
mod report;
mod result;
mod signed_headers;

pub use fault::VerificationFault;
pub use report::{SignatureEntry, VerificationReport, explain};
pub use result::verify;
