//! Refusals of the API: codes, details, and the time after which a retry can succeed.

mod code;
mod detail;
mod refusal;

pub use code::Code;
pub use refusal::Refusal;
