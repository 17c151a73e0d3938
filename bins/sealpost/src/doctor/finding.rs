//! The result type of all checks of `sealpost doctor`, and its line of text.

use serde::Serialize;

use crate::fault::Fault;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    /// The check found no problem.
    Ok,
    /// A server can run, but with a risk.
    Warn,
    /// A server would not start, or would not work correctly.
    Fail,
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) verdict: Verdict,
    /// The observed state, and advice if there is a problem.
    pub(super) detail: String,
}

impl Finding {
    pub(super) fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, detail: detail.into() }
    }

    pub(super) fn warn(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warn, detail: detail.into() }
    }

    pub(super) fn fail(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Fail, detail: detail.into() }
    }

    /// Creates a finding from the result of a check. The detail of a failure is the error text that `sealpost serve`
    /// would report.
    pub(super) fn of(check: &'static str, done: Result<String, Fault>) -> Self {
        match done {
            Ok(detail) => Self::ok(check, detail),
            Err(fault) => Self::fail(check, fault.to_string()),
        }
    }

    /// Formats the finding as one line. `coloured` adds ANSI colours to the verdict.
    pub(super) fn line(&self, coloured: bool) -> String {
        let (word, colour) = match self.verdict {
            Verdict::Ok => ("ok  ", "\u{1b}[32m"),
            Verdict::Warn => ("warn", "\u{1b}[33m"),
            Verdict::Fail => ("fail", "\u{1b}[31m"),
        };
        let (on, off) = if coloured { (colour, "\u{1b}[0m") } else { ("", "") };
        format!("{on}{word}{off}  {:<9} {}\n", self.check, self.detail)
    }
}
