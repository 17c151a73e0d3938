//! Refusals: the reasons why the API rejects a request. A refusal has an error code, a text, and the time after which a
//! retry can succeed, if it is known. Also formats any error with its causes.

mod causes;
mod code;
mod detail;
mod refusal;

pub use causes::with_causes;
pub use code::Code;
pub use detail::AllowanceAdvice;
pub use refusal::Refusal;
