//! Badges (signed credentials about API keys), the assessments and scores that they are based on, and compliance
//! circuits (the sets of checks that jurisdictions require).

mod assessment;
mod badge;
mod circuit;
mod score;

pub use assessment::{
    Assessment, AssessmentMetric, AssessmentMetrics, BadgeDenial, Threshold, UnmetThreshold,
    check_thresholds, unmet_thresholds,
};
pub use badge::{Badge, BadgeStatus, Revocation, StatusPosition};
pub use circuit::{
    Attestation, CheckName, CheckNameFault, CheckReport, CheckStatus, Circuit, CircuitReport,
    Circuits, ComplianceCheck, Jurisdiction,
};
pub use score::{Score, ScoreFault};
