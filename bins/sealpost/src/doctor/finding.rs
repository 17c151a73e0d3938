//! What a check has found.

use serde::Serialize;

use crate::fault::Fault;

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    /// Nothing to do.
    Ok,
    /// A server runs, and yet.
    Warn,
    /// A server would not run, or not right.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) verdict: Verdict,
    /// What is there, and what to do where that is not right.
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

    /// What the same mistake is called when a server meets it.
    pub(super) fn of(check: &'static str, done: Result<String, Fault>) -> Self {
        match done {
            Ok(detail) => Self::ok(check, detail),
            Err(fault) => Self::fail(check, fault.to_string()),
        }
    }

    /// For people.
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
