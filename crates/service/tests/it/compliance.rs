//! Tests compliance circuits (sets of checks for a jurisdiction) with recorded attestations.

use std::time::Duration;

use sealpost_domain::{CheckName, CheckStatus};
use sealpost_service::{AssessmentSource, Attest, Validate};

use crate::support::{World, id};

#[test]
fn a_check_expires_after_the_time_that_its_circuit_names() {
    let world = World::new();
    let alice = world.newcomer(None);
    for check in ["sanctions_screened", "eidas_identified"] {
        let check = CheckName::parse(check).unwrap();
        let attest = Attest { check, valid_until: None, failed: false };
        world.operator().attest(&id(&alice), &attest, &AssessmentSource::default()).unwrap();
    }
    // The screening is valid for 30 days, the identification for longer.
    let (days, moment) = (Duration::from_hours(30 * 24), Duration::from_millis(1));
    for (span, screened) in
        [(days.saturating_sub(moment), CheckStatus::Passed), (moment, CheckStatus::Expired)]
    {
        world.clock.advance(span);
        let alice = world.log_in_again(&alice);
        let asked = Validate { jurisdiction: "EU".to_owned(), dry_run: true };
        let checks = world.sealpost.validate(&alice, &Ok(asked)).result.unwrap().report.checks;
        let found: Vec<_> = checks.iter().map(|it| (it.name.as_str(), it.status)).collect();
        assert_eq!(found[0], ("identity_verified", CheckStatus::Passed));
        assert_eq!(found[3], ("sanctions_screened", screened));
    }
}
