//! A refusal that is reported inside a successful response. Only dry runs return such responses.

use schemars::JsonSchema;
use sealpost_domain::{CheckReport, Code, Jurisdiction, Refusal, UnmetThreshold};
use serde::Serialize;

/// A refusal as JSON: the members of an error response that explain the reason.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Explanation {
    /// The error code.
    pub code: Code,
    /// The reason, and advice for the caller.
    pub detail: String,
    /// Further members, which depend on the error code.
    #[serde(flatten)]
    pub members: Members,
}

/// The members that only some error codes have.
#[derive(Debug, Clone, Default, JsonSchema, Serialize)]
pub struct Members {
    /// The metrics that miss their threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet: Option<Vec<UnmetThreshold>>,
    /// The jurisdiction whose compliance checks did not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jurisdiction: Option<Jurisdiction>,
    /// The compliance checks of the jurisdiction, with their results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Vec<CheckReport>>,
}

impl Explanation {
    pub(crate) fn of(refusal: &Refusal) -> Self {
        Self { code: refusal.code(), detail: refusal.to_string(), members: Members::of(refusal) }
    }
}

impl Members {
    /// Returns the members that belong to a refusal.
    pub fn of(refusal: &Refusal) -> Self {
        let circuit = refusal.circuit();
        Self {
            unmet: refusal.unmet().map(<[_]>::to_vec),
            jurisdiction: circuit.map(|report| report.jurisdiction.clone()),
            checks: circuit.map(|report| report.checks.clone()),
        }
    }
}
