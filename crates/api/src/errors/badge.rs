//! What badges and compliance circuits are refused for.

use std::collections::BTreeMap;

use sealpost_domain::{
    AssessmentMetrics, BadgeDenial, CircuitReport, Jurisdiction, Refusal, Score, Timestamp,
    check_thresholds,
};
use sealpost_service::built_in_circuits;

use super::{Meaning, Retry};
use crate::http::Problem;

pub(super) const BADGE_DENIED_DRIFT: Meaning = Meaning {
    means: "Drift is over its hard limit of 0.30, whatever the other metrics are.",
    when: &["The key's newest assessment found a drift of more than 0.30."],
    remedy: &[
        "Have the key assessed again by the operator of the service; `unmet` names the value and the bound.",
        "Ask with `{\"dry_run\": true}` for everything that stands in the way.",
    ],
    retry: Retry::Changed,
    example: || denied(31, 95),
};

pub(super) const BADGE_DENIED_THRESHOLDS: Meaning = Meaning {
    means: "A metric does not keep to its bound, or the key was never assessed.",
    when: &[
        "The newest assessment found clarity under 0.75, coherence under 0.70, confidence under 0.90, or drift over 0.10.",
        "There is no assessment of the key: then every bound is named, with `null` as its value.",
    ],
    remedy: &[
        "Read `unmet`: it names every metric that does not keep to its bound, with value and bound.",
        "Have the key assessed again by the operator of the service.",
    ],
    retry: Retry::Changed,
    example: || denied(4, 85),
};

pub(super) const COMPLIANCE_CIRCUIT_FAILED: Meaning = Meaning {
    means: "A required check of the jurisdiction's circuit has not passed.",
    when: &[
        "An attestation that the circuit requires is missing, has expired, or says that the check failed.",
        "A badge was asked for with a `jurisdiction` whose circuit does not hold.",
    ],
    remedy: &[
        "Read `checks`: it says of each whether it is required, and whether it passed, is missing, has expired or failed.",
        "Have the operator of the service attest what is missing.",
    ],
    retry: Retry::Changed,
    example: || {
        nothing_attested().map_or(Problem::Lost, |it| Refusal::ComplianceCircuitFailed(it).into())
    },
};

fn denied(drift: u8, confidence: u8) -> Problem {
    let metrics = AssessmentMetrics {
        clarity: Score::hundredths(80),
        coherence: Score::hundredths(75),
        confidence: Score::hundredths(confidence),
        drift: Score::hundredths(drift),
    };
    match check_thresholds(Some(&metrics)) {
        Err(BadgeDenial::Drift(over)) => Refusal::BadgeDeniedDrift(over).into(),
        Err(BadgeDenial::Thresholds(unmet)) => Refusal::BadgeDeniedThresholds(unmet).into(),
        Ok(()) => Problem::Lost,
    }
}

/// The built-in circuit of a key of which nothing was attested.
fn nothing_attested() -> Option<CircuitReport> {
    let (circuits, jurisdiction) = (built_in_circuits().ok()?, Jurisdiction::parse("DEFAULT")?);
    let circuit = circuits.circuits.get(&jurisdiction)?;
    Some(circuit.evaluate(&jurisdiction, &BTreeMap::new(), Timestamp::from_millis(0)))
}
