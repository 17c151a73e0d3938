//! Documentation of the errors of badges and compliance circuits. A circuit is the set of checks of a jurisdiction.

use std::collections::BTreeMap;

use sealpost_domain::{
    AssessmentMetrics, BadgeRefusal, CircuitReport, Jurisdiction, Refusal, Score, Timestamp,
    check_thresholds,
};
use sealpost_service::built_in_circuits;

use super::{ErrorDocumentation, Retry};
use crate::response::Problem;

pub(super) const BADGE_DENIED_DRIFT: ErrorDocumentation = ErrorDocumentation {
    summary: "Drift exceeds its hard limit of 0.30. The other metrics do not matter then.",
    causes: &["The newest assessment of the key has a drift over 0.30."],
    remedies: &[
        "Ask the operator of the service for a new assessment; `unmet` names the value and the bound.",
        "Send `{\"dry_run\": true}` to list all refusals at once.",
    ],
    retry: Retry::Changed,
    example: || denied(31, 95),
};

pub(super) const BADGE_DENIED_THRESHOLDS: ErrorDocumentation = ErrorDocumentation {
    summary: "A metric is out of bounds, or the key has no assessment.",
    causes: &[
        "The newest assessment has clarity under 0.75, coherence under 0.70, confidence under 0.90, or drift over 0.10.",
        "The key has no assessment. Then `unmet` lists all metrics with the value `null`.",
    ],
    remedies: &[
        "Read `unmet`: it lists each metric that is out of bounds, with value and bound.",
        "Ask the operator of the service for a new assessment.",
    ],
    retry: Retry::Changed,
    example: || denied(4, 85),
};

pub(super) const COMPLIANCE_CIRCUIT_FAILED: ErrorDocumentation = ErrorDocumentation {
    summary: "A required check of the jurisdiction's compliance circuit has not passed.",
    causes: &[
        "A required attestation is missing or expired, or it records a failed check.",
        "A badge was requested for a `jurisdiction`, and the key does not pass its circuit.",
    ],
    remedies: &[
        "Read `checks`: it lists each check with its status, and with `required`.",
        "Ask the operator of the service for the missing attestations.",
    ],
    retry: Retry::Changed,
    example: || {
        without_attestations()
            .map_or(Problem::Lost, |report| Refusal::ComplianceCircuitFailed(report).into())
    },
};

fn denied(drift: u64, confidence: u64) -> Problem {
    let metrics = AssessmentMetrics {
        clarity: Score::hundredths(80),
        coherence: Score::hundredths(75),
        confidence: Score::hundredths(confidence),
        drift: Score::hundredths(drift),
    };
    match check_thresholds(Some(&metrics)) {
        Err(BadgeRefusal::Drift(over)) => Refusal::BadgeDeniedDrift(over).into(),
        Err(BadgeRefusal::Thresholds(unmet)) => Refusal::BadgeDeniedThresholds(unmet).into(),
        Ok(()) => Problem::Lost,
    }
}

/// Returns the report for the example of `COMPLIANCE_CIRCUIT_FAILED`: the built-in circuit `DEFAULT`, evaluated for a
/// key without attestations (recorded results of checks). Returns `None` if no circuit has this name.
fn without_attestations() -> Option<CircuitReport> {
    let (circuits, jurisdiction) = (built_in_circuits().ok()?, Jurisdiction::parse("DEFAULT")?);
    let circuit = circuits.circuits.get(&jurisdiction)?;
    Some(circuit.evaluate(&jurisdiction, &BTreeMap::new(), Timestamp::from_millis(0)))
}
