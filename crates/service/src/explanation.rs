//! A refusal as an answer: what a dry run says would be refused.

use schemars::JsonSchema;
use sealpost_domain::{CheckReport, Code, Jurisdiction, Refusal, UnmetThreshold};
use serde::Serialize;

/// The members of a problem document that tell refusals apart.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Explanation {
    /// The contract's code.
    pub code: Code,
    /// What the caller can do.
    pub detail: String,
    /// Beyond that, by its code.
    #[serde(flatten)]
    pub members: Members,
}

/// What some codes carry besides.
#[derive(Debug, Clone, Default, JsonSchema, Serialize)]
pub struct Members {
    /// The bounds that are not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet: Option<Vec<UnmetThreshold>>,
    /// Whose circuit does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jurisdiction: Option<Jurisdiction>,
    /// Its checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Vec<CheckReport>>,
}

impl Explanation {
    pub(crate) fn of(refusal: &Refusal) -> Self {
        Self { code: refusal.code(), detail: refusal.to_string(), members: Members::of(refusal) }
    }
}

impl Members {
    /// What this refusal carries.
    pub fn of(refusal: &Refusal) -> Self {
        let circuit = refusal.circuit();
        Self {
            unmet: refusal.unmet().map(<[_]>::to_vec),
            jurisdiction: circuit.map(|report| report.jurisdiction.clone()),
            checks: circuit.map(|report| report.checks.clone()),
        }
    }
}
