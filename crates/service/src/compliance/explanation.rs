//! A refusal as part of a successful response, for dry runs.

use schemars::JsonSchema;
use sealpost_domain::{CheckReport, Code, Jurisdiction, Refusal, UnmetThreshold};
use serde::Serialize;

/// The members of a problem document that identify a refusal.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Explanation {
    /// Code of the refusal.
    pub code: Code,
    /// Reason, and advice for the caller.
    pub detail: String,
    /// Further members, depending on the code.
    #[serde(flatten)]
    pub members: Members,
}

/// Further members of a problem document, for some codes.
#[derive(Debug, Clone, Default, JsonSchema, Serialize)]
pub struct Members {
    /// Metrics that miss their threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet: Option<Vec<UnmetThreshold>>,
    /// Jurisdiction of the failed circuit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jurisdiction: Option<Jurisdiction>,
    /// Checks of the failed circuit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Vec<CheckReport>>,
}

impl Explanation {
    pub(crate) fn of(refusal: &Refusal) -> Self {
        Self { code: refusal.code(), detail: refusal.to_string(), members: Members::of(refusal) }
    }
}

impl Members {
    /// Returns the members of a refusal.
    pub fn of(refusal: &Refusal) -> Self {
        let circuit = refusal.circuit();
        Self {
            unmet: refusal.unmet().map(<[_]>::to_vec),
            jurisdiction: circuit.map(|report| report.jurisdiction.clone()),
            checks: circuit.map(|report| report.checks.clone()),
        }
    }
}
