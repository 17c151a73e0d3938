//! Refusals: the reasons why the API rejects a request, with their error codes, their texts, and the time after which a
//! retry can succeed.

mod advice;
mod code;
mod detail;
mod refusal;

pub use advice::AllowanceAdvice;
pub use code::Code;
pub use refusal::Refusal;
