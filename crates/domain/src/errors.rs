//! Refusals: the reasons why the API rejects a request, with their error codes, their texts, and the time after which a
//! retry can succeed. Also the text of any error with its causes.

mod causes;
mod code;
mod detail;
mod refusal;

pub use causes::with_causes;
pub use code::Code;
pub use detail::AllowanceAdvice;
pub use refusal::Refusal;
