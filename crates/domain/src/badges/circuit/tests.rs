//! Tests the evaluation of compliance circuits: each check status, and expiry at the exact millisecond.

use super::*;

const DAY: Duration = Duration::from_hours(24);
const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn name(text: &str) -> CheckName {
    CheckName::parse(text).unwrap()
}

fn check(any_of: &[&str], required: bool, valid_for: Option<Duration>) -> ComplianceCheck {
    let any_of: Vec<_> = any_of.iter().map(|text| name(text)).collect();
    ComplianceCheck { name: any_of[0].clone(), any_of, required, valid_for }
}

fn attestation(text: &str, at: Timestamp, valid_until: Option<Timestamp>) -> Attestation {
    Attestation {
        id: AttestationId::new(at, [0; 10]),
        api_key_id: ApiKeyId::new(at, [0; 10]),
        check: name(text),
        failed: false,
        valid_until,
        attester: "operator:test".to_owned(),
        reason: String::new(),
        at,
    }
}

fn failed(text: &str) -> Attestation {
    Attestation { failed: true, ..attestation(text, NOW, None) }
}

fn evaluate(checks: Vec<ComplianceCheck>, attested: &[Attestation]) -> CircuitReport {
    let newest = attested.iter().map(|one| (one.check.clone(), one.clone())).collect();
    Circuit { checks }.evaluate(&Jurisdiction::parse("eu").unwrap(), &newest, NOW)
}

/// Evaluates a circuit with one check. Returns the status of this check and the end of its validity.
fn standing(check: ComplianceCheck, attested: &[Attestation]) -> (CheckStatus, Option<Timestamp>) {
    let report = evaluate(vec![check], attested);
    (report.checks[0].status, report.checks[0].valid_until)
}

#[test]
fn an_attestation_expires_exactly_at_its_end() {
    use CheckStatus::{Expired, Passed};
    let just = Duration::from_millis(1);
    for (valid_until, status) in [
        (None, Passed),
        (Some(NOW.plus(just)), Passed),
        (Some(NOW), Expired),
        (Some(NOW.minus(just)), Expired),
    ] {
        let of = attestation("kyc", NOW.minus(DAY), valid_until);
        assert_eq!(standing(check(&["kyc"], true, None), &[of]), (status, valid_until));
    }
}

#[test]
fn a_circuit_can_shorten_the_validity() {
    use CheckStatus::{Expired, Passed};
    let just = Duration::from_millis(1);
    for (at, valid_until, status, until) in [
        (NOW.minus(DAY).plus(just), None, Passed, NOW.plus(just)),
        (NOW.minus(DAY), None, Expired, NOW),
        (NOW.minus(DAY), Some(NOW.plus(DAY)), Expired, NOW),
        (NOW, Some(NOW.plus(just)), Passed, NOW.plus(just)),
        (NOW, Some(NOW.plus(DAY + just)), Passed, NOW.plus(DAY)),
    ] {
        let of = attestation("kyc", at, valid_until);
        assert_eq!(standing(check(&["kyc"], true, Some(DAY)), &[of]), (status, Some(until)));
    }
}

#[test]
fn missing_and_failed_attestations_are_reported() {
    let kyc = || check(&["kyc"], true, Some(DAY));
    assert_eq!(standing(kyc(), &[]), (CheckStatus::Missing, None));
    let other = attestation("another", NOW, None);
    assert_eq!(standing(kyc(), &[other]), (CheckStatus::Missing, None));
    assert_eq!(standing(kyc(), &[failed("kyc")]), (CheckStatus::Failed, None));
}

#[test]
fn the_best_alternative_counts() {
    use CheckStatus::{Expired, Failed, Passed};
    let either = || check(&["a", "b"], true, None);
    let (good, old) = (attestation("a", NOW, None), attestation("b", NOW, Some(NOW)));
    assert_eq!(standing(either(), &[good, failed("b")]), (Passed, None));
    assert_eq!(standing(either(), &[failed("a"), old]), (Expired, Some(NOW)));
    assert_eq!(standing(either(), &[failed("b")]), (Failed, None));
    let (short, long) = (NOW.plus(DAY), NOW.plus(DAY * 2));
    let both = [attestation("a", NOW, Some(short)), attestation("b", NOW, Some(long))];
    assert_eq!(standing(either(), &both), (Passed, Some(long)));
    let for_ever = [attestation("a", NOW, Some(short)), attestation("b", NOW, None)];
    assert_eq!(standing(either(), &for_ever), (Passed, None));
}

#[test]
fn a_circuit_passes_with_its_required_checks_and_reports_all() {
    let checks =
        || vec![check(&["z"], true, None), check(&["a"], false, None), check(&["m"], true, None)];
    let z = attestation("z", NOW, None);
    let report = evaluate(checks(), &[z.clone(), attestation("m", NOW, None)]);
    assert!(report.passed);
    let names: Vec<_> = report.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["z", "a", "m"]);
    assert_eq!(report.checks[1].status, CheckStatus::Missing);
    assert!(!evaluate(checks(), &[z.clone(), attestation("a", NOW, None)]).passed);
    assert!(!evaluate(checks(), &[z, failed("m")]).passed);
}

#[test]
fn names_have_a_restricted_alphabet() {
    assert_eq!(Jurisdiction::parse("us-ca").unwrap().as_str(), "US-CA");
    for odd in ["", "E", "E U", "A-VERY-LONG-NAME-X", "ÉU", "E_U"] {
        assert_eq!(Jurisdiction::parse(odd), None, "{odd}");
    }
    for odd in ["", "KYC", "a-b", "a b", &"a".repeat(65)] {
        assert!(CheckName::parse(odd).is_err(), "{odd}");
    }
}
