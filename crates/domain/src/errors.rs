//! Refusals: the reasons why the API rejects a request. A refusal has an error code, a text, and the time after which a
//! retry can succeed, if it is known. Also formats any error with its causes.

pub(crate) mod causes;
pub(crate) mod code;
pub(crate) mod detail;
pub(crate) mod refusal;

/// The error of a text that cannot be parsed as a value, such as an id. Contains the broken rule, as a clause that
/// follows the name of the value: for example `must have 3 to 32 characters`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormatError(pub(crate) &'static str);
