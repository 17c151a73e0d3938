//! Refusals: the reasons why the API rejects a request, with their error codes, their texts, and the time after which a
//! retry can succeed.

mod code;
mod detail;
mod refusal;

pub use code::Code;
pub use detail::AllowanceAdvice;
pub use refusal::Refusal;
