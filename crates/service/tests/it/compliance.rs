//! Tests compliance circuits (sets of checks for a jurisdiction) with recorded attestations.

use std::{sync::Arc, time::Duration};

use sealpost_domain::{CheckName, CheckStatus, Code, Timestamp};
use sealpost_service::{
    AssessmentSource, Attest, Credentials, Validate, built_in_circuits, parse_circuits,
};

use crate::support::{World, id, refusal};

fn attest(world: &World, who: &Credentials, check: &str, until: Option<Timestamp>, failed: bool) {
    let check = CheckName::parse(check).unwrap();
    let attest = Attest { check, valid_until: until, failed };
    world.operator().attest(&id(who), &attest, &AssessmentSource::default()).unwrap();
    world.clock.advance(Duration::from_millis(1));
}

fn asked(jurisdiction: &str) -> Validate {
    Validate { jurisdiction: jurisdiction.to_owned(), dry_run: false }
}

/// Returns the name and the status of each check of the jurisdiction.
fn standing(world: &World, who: &Credentials, jurisdiction: &str) -> Vec<(String, CheckStatus)> {
    let tried = Validate { dry_run: true, ..asked(jurisdiction) };
    let validated = world.sealpost.validate(who, &Ok(tried)).result.unwrap();
    let refused = validated.tried.unwrap().refusals;
    assert_eq!(refused.is_empty(), validated.report.passed);
    let checks = validated.report.checks.into_iter();
    checks.map(|check| (check.name.as_str().to_owned(), check.status)).collect()
}

#[test]
fn validate_explains_every_check() {
    use CheckStatus::{Expired, Failed, Missing, Passed};
    let world = World::new();
    let alice = world.newcomer(None);
    let now = Timestamp::from_millis(1_790_000_000_000);
    attest(&world, &alice, "eidas_identified", None, false);
    attest(&world, &alice, "gdpr_processing_agreement", Some(now), false);
    attest(&world, &alice, "sanctions_screened", None, true);
    let is = |name: &str, status| (name.to_owned(), status);
    assert_eq!(
        standing(&world, &alice, "EU"),
        [
            is("identity_verified", Passed),
            is("gdpr_processing_agreement", Expired),
            is("data_protection_assessed", Missing),
            is("sanctions_screened", Failed),
            is("eu_representative_named", Missing),
        ]
    );
    let refused = refusal(world.sealpost.validate(&alice, &Ok(asked("EU"))).result);
    assert_eq!(refused.code(), Code::ComplianceCircuitFailed);
    assert_eq!(refused.circuit().unwrap().checks.len(), 5);
    attest(&world, &alice, "gdpr_processing_agreement", None, false);
    attest(&world, &alice, "data_protection_officer_approved", None, false);
    attest(&world, &alice, "sanctions_screened", None, false);
    let validated = world.sealpost.validate(&alice, &Ok(asked("eu"))).result.unwrap();
    assert!(validated.report.passed && validated.tried.is_none());

    // The screening is valid for 30 days, the others for longer.
    world.clock.advance(Duration::from_hours(30 * 24));
    let alice = world.log_in_again(&alice);
    let expired = standing(&world, &alice, "EU");
    assert_eq!(expired[3], is("sanctions_screened", Expired));
    assert_eq!(expired[0], is("identity_verified", Passed));
}

#[test]
fn an_unknown_jurisdiction_lists_the_known_ones() {
    let world = World::new();
    let alice = world.newcomer(None);
    for name in ["FR", "", "E U", "did:key:z"] {
        let refused = refusal(world.sealpost.validate(&alice, &Ok(asked(name))).result);
        assert_eq!((refused.code(), refused.field()), (Code::InvalidField, Some("jurisdiction")));
        assert!(refused.to_string().ends_with("DEFAULT, EU, UK, US"), "{refused}");
    }
}

#[test]
fn replaced_circuits_hold_from_the_next_request() {
    let world = World::new();
    let alice = world.newcomer(None);
    attest(&world, &alice, "seat", None, false);
    let text = "version = 2\n[jurisdictions.FR]\nchecks = [{name = 'seat'}]";
    let before = world.sealpost.badges.use_circuits(Arc::new(parse_circuits(text).unwrap()));
    assert_eq!(*before, built_in_circuits().unwrap());
    assert!(world.sealpost.validate(&alice, &Ok(asked("FR"))).result.unwrap().report.passed);
    let gone = refusal(world.sealpost.validate(&alice, &Ok(asked("EU"))).result);
    assert!(gone.to_string().ends_with("must be one of FR"), "{gone}");
}
