//! `sealpost admin assess` and `attest` record the evidence for badges. `sealpost admin badge` revokes a badge.

use sealpost_domain::AssessmentMetrics;
use sealpost_service::{AssessmentSource, Attest};

use super::{desk::Desk, output::Output};
use crate::{
    cli::{AssessArgs, AttestArgs, BadgeCommand as C},
    fault::Fault,
};

pub(super) fn assess(desk: &Desk, output: Output, args: &AssessArgs) -> Result<(), Fault> {
    let metrics = AssessmentMetrics {
        clarity: args.clarity,
        coherence: args.coherence,
        confidence: args.confidence,
        drift: args.drift,
    };
    let finding = AssessmentSource { by: args.assessor.clone(), reason: args.reason.clone() };
    output.show(&desk.operator.assess(&args.api_key_id, metrics, &finding)?)
}

pub(super) fn attest(desk: &Desk, output: Output, args: &AttestArgs) -> Result<(), Fault> {
    let attest =
        Attest { check: args.check.clone(), valid_until: args.valid_until, failed: args.failed };
    let finding = AssessmentSource { by: args.attester.clone(), reason: args.reason.clone() };
    output.show(&desk.operator.attest(&args.api_key_id, &attest, &finding)?)
}

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::Revoke { badge_id, reason } => {
            output.show(&desk.operator.revoke_badge(badge_id, reason)?)
        }
    }
}
