//! `sealpost admin governance` and `partner`: council actions (blocks of a key or an account) and suspensions of
//! partners (groups of accounts). `assess` and `attest` record the evidence for badges, and `badge` revokes badges.

use sealpost_domain::AssessmentMetrics;
use sealpost_service::{AssessmentSource, Attest, check_reason};

use super::{desk::Desk, output::Output};
use crate::{
    cli::{AssessArgs, AttestArgs, BadgeCommand, GovernanceCommand as C, PartnerCommand},
    fault::Fault,
};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    let (C::Enforce(verdict) | C::Lift(verdict) | C::Propose(verdict)) = command;
    check_text("--reason", &verdict.reason.text)?;
    let decision = match command {
        C::Enforce(verdict) => operator.enforce(&verdict.subject, &verdict.reason.text),
        C::Lift(verdict) => operator.lift(&verdict.subject, &verdict.reason.text),
        C::Propose(verdict) => operator.propose(&verdict.subject, &verdict.reason.text),
    };
    output.show(&decision?)
}

pub(super) fn partner(desk: &Desk, output: Output, command: &PartnerCommand) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        PartnerCommand::Assign { account_id, partner } => {
            output.show(&operator.assign_partner(account_id, partner)?)
        }
        PartnerCommand::Restore(named) => {
            check_text("--reason", &named.reason.text)?;
            output.show(&operator.restore_partner(&named.partner, &named.reason.text)?)
        }
        PartnerCommand::Suspend(named) => {
            check_text("--reason", &named.reason.text)?;
            output.show(&operator.suspend_partner(&named.partner, &named.reason.text)?)
        }
    }
}

pub(super) fn assess(desk: &Desk, output: Output, args: &AssessArgs) -> Result<(), Fault> {
    let metrics = AssessmentMetrics {
        clarity: args.clarity,
        coherence: args.coherence,
        confidence: args.confidence,
        drift: args.drift,
    };
    let finding = source("--assessor", args.assessor.as_ref(), &args.reason)?;
    output.show(&desk.operator.assess(&args.api_key_id, metrics, &finding)?)
}

pub(super) fn attest(desk: &Desk, output: Output, args: &AttestArgs) -> Result<(), Fault> {
    let attest =
        Attest { check: args.check.clone(), valid_until: args.valid_until, failed: args.failed };
    let finding = source("--attester", args.attester.as_ref(), &args.reason)?;
    output.show(&desk.operator.attest(&args.api_key_id, &attest, &finding)?)
}

pub(super) fn badge(desk: &Desk, output: Output, command: &BadgeCommand) -> Result<(), Fault> {
    match command {
        BadgeCommand::Revoke { badge_id, reason } => {
            check_text("--reason", reason)?;
            output.show(&desk.operator.revoke_badge(badge_id, reason)?)
        }
    }
}

/// Returns the author and the reason of an assessment or attestation. `option` is the name of the command-line option
/// for the author, for errors.
fn source(option: &str, by: Option<&String>, reason: &str) -> Result<AssessmentSource, Fault> {
    if let Some(name) = by {
        check_text(option, name)?;
    }
    if !reason.is_empty() {
        check_text("--reason", reason)?;
    }
    Ok(AssessmentSource { by: by.cloned(), reason: reason.to_owned() })
}

/// Refuses a text that could deceive its readers, such as a text with control characters. The console and the operator
/// API apply the same rule to reasons.
fn check_text(option: &str, text: &str) -> Result<(), Fault> {
    check_reason(text).map_err(|fault| Fault::usage(format!("{option} {fault}")))
}
