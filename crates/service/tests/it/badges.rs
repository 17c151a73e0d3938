//! Tests how badges are issued, verified, shown in status lists, and revoked.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sealpost_domain::{
    ApiKeyId, AssessmentMetrics, BadgeStatus, CheckName, Code, ports::StoreError,
};
use sealpost_service::{
    AssessmentSource, Attest, BadgeVerdict, Credentials, DryRun, Issue, Issued, IssuedBadge,
    Settings,
};
use sealpost_wallet::IssuerSecret;
use serde_json::{Value, json};

use crate::support::{World, id, refusal};

pub(crate) fn assess(world: &World, who: &Credentials, of: [&str; 4]) {
    world.operator().assess(&id(who), metrics(of), &AssessmentSource::default()).unwrap();
    world.clock.advance(Duration::from_millis(1));
}

fn metrics(of: [&str; 4]) -> AssessmentMetrics {
    let [clarity, coherence, confidence, drift] = of.map(|text| text.parse().unwrap());
    AssessmentMetrics { clarity, coherence, confidence, drift }
}

pub(crate) const GOOD: [&str; 4] = ["0.75", "0.70", "0.90", "0.10"];

fn issue(world: &World, who: &Credentials, asked: &Issue) -> IssuedBadge {
    match world.sealpost.issue_badge(who, &Ok(asked.clone())).result.unwrap() {
        Issued::Badge(badge) => badge,
        Issued::DryRun(_) => panic!("a dry run"),
    }
}

fn try_issue(world: &World, who: &Credentials, asked: Issue) -> DryRun {
    let asked = Issue { dry_run: true, ..asked };
    match world.sealpost.issue_badge(who, &Ok(asked)).result.unwrap() {
        Issued::DryRun(tried) => tried,
        Issued::Badge(_) => panic!("no dry run"),
    }
}

fn verdict(world: &World, who: &Credentials, credential: &str) -> BadgeVerdict {
    let verified = world.sealpost.verify_badge(who, &Ok(credential.to_owned())).result.unwrap();
    assert_eq!(verified.valid, verified.status == BadgeVerdict::Valid);
    assert_eq!(verified.badge_id.is_none(), verified.status == BadgeVerdict::Invalid);
    verified.status
}

fn claims(credential: &str) -> Value {
    let payload = credential.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

#[test]
fn a_badge_is_issued_on_the_newest_assessment() {
    let world = World::new();
    let alice = world.newcomer(None);
    let ask = || world.sealpost.issue_badge(&alice, &Ok(Issue::default())).result;
    let never = refusal(ask());
    assert_eq!(never.code(), Code::BadgeDeniedThresholds);
    assert!(never.unmet().unwrap().len() == 4 && never.to_string().contains("never assessed"));
    assess(&world, &alice, ["1", "1", "1", "0.31"]);
    assert_eq!(refusal(ask()).code(), Code::BadgeDeniedDrift);
    assess(&world, &alice, ["0.74", "1", "1", "0.2"]);
    let unmet = refusal(ask());
    assert_eq!(unmet.code(), Code::BadgeDeniedThresholds);
    assert_eq!(unmet.unmet().unwrap().len(), 2);
    assess(&world, &alice, GOOD);
    ask().unwrap();
    assess(&world, &alice, ["0.74", "1", "1", "0"]);
    assert_eq!(refusal(ask()).code(), Code::BadgeDeniedThresholds);
}

#[test]
fn a_credential_names_the_did_only_if_the_holder_asks() {
    let world = World::new();
    let alice = world.newcomer(None);
    assess(&world, &alice, GOOD);
    let did = world.operator().show_key(&id(&alice)).unwrap().did;
    let plain = issue(&world, &alice, &Issue::default());
    let said = claims(&plain.credential);
    assert_eq!(said["sub"], format!("urn:sealpost:{}", id(&alice)));
    assert!(!said.to_string().contains(did.as_str()));
    let disclosed = issue(&world, &alice, &Issue { disclose_did: true, ..Issue::default() });
    let said = claims(&disclosed.credential);
    assert_eq!(said["credentialSubject"]["id"], did.as_str());
    assert!(!said.to_string().contains(&id(&alice).to_string()));
    let place = |badge: &IssuedBadge| {
        claims(&badge.credential)["credentialStatus"]["statusListIndex"].clone()
    };
    assert_ne!(place(&plain), place(&disclosed), "each badge has a bit of its own");
    let sequential = [json!("0"), json!("1")];
    assert_ne!([place(&plain), place(&disclosed)], sequential, "the indices are random");
}

#[test]
fn a_badge_is_valid_until_its_expiry_or_revocation() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    assess(&world, &alice, GOOD);
    let (badge, other) =
        (issue(&world, &alice, &Issue::default()), issue(&world, &alice, &Issue::default()));
    assert_eq!(verdict(&world, &bob, &badge.credential), BadgeVerdict::Valid);
    world.operator().revoke_badge(&badge.badge_id, "withdrawn").unwrap();
    assert!(world.operator().revoke_badge(&badge.badge_id, "again").is_err());
    assert_eq!(verdict(&world, &bob, &badge.credential), BadgeVerdict::Revoked);
    let shown = world.sealpost.show_badge(&badge.badge_id.to_string()).unwrap().unwrap();
    assert_eq!((shown.status, shown.revoked_at.is_some()), (BadgeStatus::Revoked, true));
    assert_eq!(other.expires_at.since(other.issued_at), Settings::default().badge_ttl);

    // Issued at the beginning of this second, so it expires at the beginning of that one.
    let span = other.expires_at.since(other.issued_at);
    world.clock.advance(span.saturating_sub(Duration::from_secs(1)));
    let bob = world.log_in_again(&bob);
    assert_eq!(verdict(&world, &bob, &other.credential), BadgeVerdict::Valid);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(verdict(&world, &bob, &other.credential), BadgeVerdict::Expired);
    assert_eq!(verdict(&world, &bob, &badge.credential), BadgeVerdict::Revoked);
}

#[test]
fn a_credential_without_the_services_signature_is_invalid() {
    let (world, elsewhere) = (World::new(), World::new());
    let (alice, mallory) = (world.newcomer(None), elsewhere.newcomer(None));
    assess(&world, &alice, GOOD);
    assess(&elsewhere, &mallory, GOOD);
    let foreign = issue(&elsewhere, &mallory, &Issue::default()).credential;
    let own = issue(&world, &alice, &Issue::default()).credential;
    let list = world.sealpost.status_list("1").unwrap().unwrap();
    let [header, payload, signature] = own.split('.').collect::<Vec<_>>().try_into().unwrap();
    let stranger = foreign.split('.').nth(1).unwrap();
    for credential in [
        "",
        "no token",
        &foreign,
        &list,
        &format!("{header}.{stranger}.{signature}"),
        &format!("{header}.{payload}."),
    ] {
        assert_eq!(verdict(&world, &alice, credential), BadgeVerdict::Invalid, "{credential}");
    }
    assert_eq!(verdict(&world, &alice, &own), BadgeVerdict::Valid);
}

#[test]
fn a_signed_credential_with_another_subject_is_invalid() {
    let world = World::new();
    let (alice, mallory) = (world.newcomer(None), world.newcomer(None));
    assess(&world, &alice, GOOD);
    let genuine = issue(&world, &alice, &Issue::default()).credential;
    let leaked = world.database.read(sealpost_storage::Reader::issuer_keys).unwrap().remove(0);
    let leaked = IssuerSecret::unwrap(&world.keyring, &leaked.id, &leaked.secret).unwrap();
    let header = URL_SAFE_NO_PAD.decode(genuine.split('.').next().unwrap()).unwrap();
    let kid = serde_json::from_slice::<Value>(&header).unwrap()["kid"].clone();
    let signed = |claims: &Value| leaked.sign_credential(kid.as_str().unwrap(), claims).unwrap();
    let mut said = claims(&genuine);
    assert_eq!(verdict(&world, &mallory, &signed(&said)), BadgeVerdict::Valid);
    said["sub"] = format!("urn:sealpost:{}", id(&mallory)).into();
    assert_eq!(verdict(&world, &mallory, &signed(&said)), BadgeVerdict::Invalid);
}

#[test]
fn old_badges_verify_after_the_issuer_has_rotated() {
    let world = World::new();
    let alice = world.newcomer(None);
    assess(&world, &alice, GOOD);
    let old = issue(&world, &alice, &Issue::default()).credential;
    let fresh = world.operator().rotate_issuer(&world.keyring).unwrap();
    world.issuer.refresh().unwrap();
    world.clock.advance(Duration::from_secs(10));
    let new = issue(&world, &alice, &Issue::default()).credential;
    let header = URL_SAFE_NO_PAD.decode(new.split('.').next().unwrap()).unwrap();
    assert!(String::from_utf8(header).unwrap().contains(&fresh.kid));
    assert_ne!(old.split('.').next(), new.split('.').next());
    for credential in [old, new] {
        assert_eq!(verdict(&world, &alice, &credential), BadgeVerdict::Valid);
    }
}

#[test]
fn a_dry_run_reports_every_refusal_and_issues_nothing() {
    let world = World::with(Settings { badges_per_key_max: 1, ..Settings::default() });
    let alice = world.newcomer(None);
    let asked = || Issue { jurisdiction: Some("us".to_owned()), ..Issue::default() };
    let codes = |tried: &DryRun| tried.refusals.iter().map(|one| one.code).collect::<Vec<_>>();
    let tried = try_issue(&world, &alice, asked());
    assert_eq!(codes(&tried), [Code::BadgeDeniedThresholds, Code::ComplianceCircuitFailed]);
    assert!(!tried.granted && tried.refusals[0].members.unmet.is_some());
    assert!(tried.refusals[1].members.checks.is_some());
    assess(&world, &alice, ["0.74", "1", "1", "0.31"]);
    let tried = try_issue(&world, &alice, Issue::default());
    assert_eq!(codes(&tried), [Code::BadgeDeniedDrift, Code::BadgeDeniedThresholds]);
    assert_eq!(tried.refusals[1].members.unmet.as_ref().unwrap().len(), 2);
    assess(&world, &alice, GOOD);
    assert!(try_issue(&world, &alice, Issue::default()).granted);
    assert_eq!(world.sealpost.status_list("1").unwrap(), None, "nothing was issued");
    issue(&world, &alice, &Issue::default());
    assert_eq!(codes(&try_issue(&world, &alice, Issue::default())), [Code::QuotaExceeded]);
    let refused = refusal(world.sealpost.issue_badge(&alice, &Ok(Issue::default())).result);
    assert_eq!(refused.code(), Code::QuotaExceeded);
}

#[test]
fn a_status_list_is_signed_again_after_two_seconds_in_either_direction_of_the_clock() {
    let world = World::new();
    let alice = world.newcomer(None);
    assess(&world, &alice, GOOD);
    let issued = [(); 2].map(|()| issue(&world, &alice, &Issue::default()).badge_id);
    let list = || world.sealpost.status_list("1").unwrap().unwrap();
    let first = list();
    world.operator().revoke_badge(&issued[0], "gone").unwrap();
    world.clock.advance(Duration::from_millis(1_999));
    assert_eq!(list(), first);
    world.clock.advance(Duration::from_millis(1));
    let second = list();
    assert_ne!(second, first);
    world.operator().revoke_badge(&issued[1], "gone too").unwrap();
    assert_eq!(list(), second);
    world.clock.set_back(Duration::from_hours(1));
    assert_ne!(list(), second);
}

#[test]
fn a_revoked_key_keeps_the_status_of_its_badges() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    assess(&world, &alice, GOOD);
    let (held, gone) =
        (issue(&world, &alice, &Issue::default()), issue(&world, &alice, &Issue::default()));
    world.operator().revoke_key(&id(&alice)).unwrap();
    world.operator().revoke_badge(&gone.badge_id, "with its key").unwrap();
    assert_eq!(verdict(&world, &bob, &held.credential), BadgeVerdict::Valid);
    assert_eq!(verdict(&world, &bob, &gone.credential), BadgeVerdict::Revoked);
    assert!(world.sealpost.status_list("1").unwrap().is_some());
}

#[test]
fn assessments_are_in_the_audit_trail_with_their_source() {
    let world = World::new();
    let alice = world.newcomer(None);
    let finding = AssessmentSource { by: Some("Lab 7".to_owned()), reason: "yearly".to_owned() };
    let shown = world.operator().assess(&id(&alice), metrics(GOOD), &finding).unwrap();
    assert_eq!((shown.assessor.as_str(), shown.reason.as_str()), ("Lab 7", "yearly"));
    let entry = world.operator().audit_entries(0, 9).unwrap().remove(0);
    assert_eq!(
        (entry.action.as_str(), entry.actor.as_str()),
        ("assessment.record", "operator:test")
    );
    for said in ["Lab 7", "yearly", "\"coherence\":\"0.7\"", &shown.assessment_id.to_string()] {
        assert!(entry.detail.contains(said), "{}", entry.detail);
    }
    let nobody = ApiKeyId::new(shown.at, [9; 10]);
    assert!(world.operator().assess(&nobody, metrics(GOOD), &finding).is_err());
}

/// The stored time is later than the clock, if the clock was ahead at an earlier assessment.
#[test]
fn assessments_and_attestations_show_their_stored_times() {
    let world = World::new();
    let (alice, operator) = (world.newcomer(None), world.operator());
    let key = id(&alice);
    let attest =
        Attest { check: CheckName::parse("kyc").unwrap(), valid_until: None, failed: false };
    let record = || {
        let source = AssessmentSource::default();
        let assessed = operator.assess(&key, metrics(GOOD), &source).unwrap().at;
        [assessed, operator.attest(&key, &attest, &source).unwrap().at]
    };
    let first = record();
    world.clock.set_back(Duration::from_mins(1));
    let second = record();
    let newest = world.database.read(|reader| {
        let assessed = reader.assessments_of(&key, 1)?.remove(0).at;
        Ok::<_, StoreError>([assessed, reader.attestations_of(&key, 1)?.remove(0).at])
    });
    assert_eq!(second, first.map(|at| at.plus(Duration::from_millis(1))));
    assert_eq!(newest.unwrap(), second);
    let detail = operator.audit_entries(0, 9).unwrap().remove(2).detail;
    assert!(detail.contains(&second[0].to_string()), "{detail}");
}

#[test]
fn an_export_has_all_badges_assessments_and_attestations() {
    let world = World::with(Settings { badges_per_key_max: 101, ..Settings::default() });
    let alice = world.newcomer(None);
    assess(&world, &alice, GOOD);
    let check = CheckName::parse("kyc").unwrap();
    let attest = Attest { check, valid_until: None, failed: true };
    let source = AssessmentSource { by: Some("Carol".to_owned()), reason: "no id".to_owned() };
    world.operator().attest(&id(&alice), &attest, &source).unwrap();
    for _ in 0..101 {
        // The plan allows 20 requests a minute.
        world.clock.advance(Duration::from_secs(3));
        issue(&world, &alice, &Issue::default());
    }
    let alice = world.log_in_again(&alice);
    let export = world.sealpost.owner(alice.token.as_deref().unwrap()).unwrap().export();
    let key = &export["keys"][0];
    assert_eq!(key["badges"].as_array().unwrap().len(), 101);
    assert_eq!(key["assessments"][0]["drift"], json!("0.1"));
    assert_eq!(key["assessments"].as_array().unwrap().len(), 1);
    let attestation = &key["attestations"][0];
    assert_eq!(
        (&attestation["check"], &attestation["failed"], &attestation["reason"]),
        (&json!("kyc"), &json!(true), &json!("no id"))
    );
    assert!(!export.to_string().contains("Carol"), "an attester is exported");
}
