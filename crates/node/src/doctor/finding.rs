//! The result of a check.

use serde::Serialize;

use crate::error::NodeError;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The check found no problem.
    Ok,
    /// A server can run, but with a risk.
    Warn,
    /// A server would not start, or would not work correctly.
    Fail,
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// Name of the check, such as `database`.
    pub check: &'static str,
    /// Severity of the result.
    pub verdict: Verdict,
    /// The observed state, and advice if there is a problem.
    pub detail: String,
}

impl Finding {
    /// Creates a finding without a problem.
    pub fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, detail: detail.into() }
    }

    pub(super) fn warn(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warn, detail: detail.into() }
    }

    /// Creates a finding of a problem. `detail` contains advice.
    pub fn fail(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Fail, detail: detail.into() }
    }

    /// Creates a finding from the result of a check. An error becomes a failure with the text of the error and its
    /// causes.
    pub(super) fn new(check: &'static str, done: Result<String, NodeError>) -> Self {
        match done {
            Ok(detail) => Self::ok(check, detail),
            Err(error) => Self::fail(check, error.with_causes()),
        }
    }
}
