//! Tests of assessments, attestations and badges of API keys.

use std::thread;

use sealpost_domain::{
    ApiKeyId, Assessment, AssessmentId, AssessmentMetrics, Attestation, AttestationId, Badge,
    BadgeId, CheckName, Jurisdiction, Revocation, Score, StatusPosition,
    ports::{Durability::Durable, StoreError},
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{Fixture, at, fresh},
};

on_both!(
    the_newest_assessment_is_returned,
    the_newest_attestation_of_each_check_is_returned,
    the_database_refuses_to_change_assessments_and_attestations,
    a_badge_reads_back_with_its_assessment,
    concurrent_badges_get_different_positions,
    a_position_is_one_of_the_draws_and_a_full_list_is_left,
    a_badge_is_revoked_once_and_its_bit_is_set,
    a_changed_badge_counts_as_revoked,
    only_live_badges_are_counted,
    a_revoked_key_keeps_its_badges,
);

fn assessment(key: &ApiKeyId, millis: i64) -> Assessment {
    let units = |units| Score::from_units(units).unwrap();
    Assessment {
        id: fresh(AssessmentId::new),
        api_key_id: *key,
        metrics: AssessmentMetrics {
            clarity: Score::ONE,
            coherence: units(999_999_999_999_999_999),
            confidence: units(1),
            drift: Score::ZERO,
        },
        assessor: "O'Brien".to_owned(),
        reason: "süß".to_owned(),
        at: at(millis),
    }
}

fn assess(db: &Fixture, key: &ApiKeyId, millis: i64) -> Assessment {
    let assessment = assessment(key, millis);
    db.write(Durable, |tx| tx.insert_assessment(&assessment)).unwrap();
    assessment
}

fn attest(db: &Fixture, key: &ApiKeyId, name: &str, millis: i64) -> Attestation {
    let attestation = Attestation {
        id: fresh(AttestationId::new),
        api_key_id: *key,
        check: CheckName::parse(name).unwrap(),
        failed: millis % 2 == 1,
        valid_until: (millis > 5).then_some(at(millis + 100)),
        attester: "operator:root".to_owned(),
        reason: String::new(),
        at: at(millis),
    };
    db.write(Durable, |tx| tx.insert_attestation(&attestation)).unwrap();
    attestation
}

fn badge(of: &Assessment, position: StatusPosition, expires: i64) -> Badge {
    Badge {
        id: fresh(BadgeId::new),
        api_key_id: of.api_key_id,
        assessment_id: of.id,
        subject: format!("urn:sealpost:{}", of.api_key_id),
        compliance: Some((Jurisdiction::parse("EU").unwrap(), 3)),
        position,
        issued_at: at(5),
        expires_at: at(expires),
        revocation: None,
    }
}

fn add(tx: &mut Transaction, of: &Assessment, expires: i64) -> Result<Badge, StoreError> {
    // The indices are in ascending order, so that the positions count up.
    let draws: Vec<_> = (0..48).collect();
    let badge = badge(of, tx.lock_free_position(&draws)?, expires);
    tx.insert_badge(&badge)?;
    Ok(badge)
}

/// Inserts an assessment of the key, and a badge.
pub(in crate::tests) fn insert(db: &Fixture, key: &ApiKeyId) -> BadgeId {
    issue(db, &assess(db, key, 1), 100).id
}

fn issue(db: &Fixture, of: &Assessment, expires: i64) -> Badge {
    db.write(Durable, |tx| add(tx, of, expires)).unwrap()
}

fn revocation(millis: i64) -> Revocation {
    Revocation { at: at(millis), by: "operator:root".to_owned(), reason: "O'Brien".to_owned() }
}

fn revoked_in(db: &Fixture, list: u64) -> Option<Vec<u64>> {
    db.read(|reader| reader.revoked_in(list)).unwrap()
}

fn the_newest_assessment_is_returned(db: &Fixture) {
    let (key, other) = (db.activate().id, db.activate().id);
    let newest = |key| db.write(Durable, |tx| tx.newest_assessment(key)).unwrap();
    assert_eq!(newest(&key), None);
    assess(db, &key, 10);
    let second = assess(db, &key, 20);
    assess(db, &other, 30);
    assert_eq!(newest(&key).as_ref(), Some(&second));
    let behind = Assessment { at: at(21), ..assess(db, &key, 5) };
    assert_eq!(newest(&key).as_ref(), Some(&behind), "the later one, with a clock behind");
    let equal = Assessment { at: at(22), ..assess(db, &key, 21) };
    let listed = db.read(|reader| reader.assessments_of(&key, 3)).unwrap();
    assert_eq!(listed, [equal, behind, second]);
}

fn the_newest_attestation_of_each_check_is_returned(db: &Fixture) {
    let (key, other) = (db.activate().id, db.activate().id);
    attest(db, &key, "kyc", 1);
    attest(db, &key, "kyc", 7);
    let kyc = Attestation { at: at(8), ..attest(db, &key, "kyc", 3) };
    let seat = attest(db, &key, "seat", 2);
    let unasked = attest(db, &key, "unasked", 9);
    attest(db, &other, "missing", 9);
    let names = ["kyc", "missing", "seat"].map(|name| CheckName::parse(name).unwrap());
    let found = db.write(Durable, |tx| tx.newest_attestations(&key, &names)).unwrap();
    assert!(found.into_values().eq([kyc.clone(), seat]));
    let listed = db.read(|reader| reader.attestations_of(&key, 2)).unwrap();
    assert_eq!(listed, [unasked, kyc]);
}

fn the_database_refuses_to_change_assessments_and_attestations(db: &Fixture) {
    let key = db.activate().id;
    assess(db, &key, 1);
    attest(db, &key, "kyc", 1);
    for (table, column) in [("assessments", "drift"), ("attestations", "failed")] {
        for sql in [
            format!("UPDATE {table} SET {column} = {column}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table} CASCADE"),
            format!("INSERT OR REPLACE INTO {table} SELECT * FROM {table}"),
            format!(
                "INSERT INTO {table} SELECT * FROM {table} WHERE 1 = 1
                 ON CONFLICT (id) DO UPDATE SET at = 9"
            ),
        ] {
            assert!(db.execute(&sql).is_err(), "{sql}");
        }
        assert_eq!(db.count(&format!("{table} WHERE at = 1")), 1);
    }
    db.execute("UPDATE api_keys SET label = 'x'").unwrap();
}

fn a_badge_reads_back_with_its_assessment(db: &Fixture) {
    let of = assess(db, &db.activate().id, 1);
    let issued = issue(db, &of, 50);
    let plain = Badge { compliance: None, ..badge(&of, StatusPosition::new(7), 50) };
    db.write(Durable, |tx| tx.insert_badge(&plain)).unwrap();
    let mut lookup = db.reader();
    assert_eq!(lookup.find_badge(&issued.id).unwrap(), Some((issued, of.clone())));
    assert_eq!(lookup.find_badge(&plain.id).unwrap(), Some((plain, of)));
    assert_eq!(lookup.find_badge(&fresh(BadgeId::new)).unwrap(), None);
}

fn concurrent_badges_get_different_positions(db: &Fixture) {
    let of = assess(db, &db.activate().id, 1);
    thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                for _ in 0..8 {
                    issue(db, &of, 50);
                }
            });
        }
    });
    assert_eq!(db.count("badges WHERE position BETWEEN 0 AND 39"), 40);
    let mut tx = db.begin(Durable).unwrap();
    add(&mut tx, &of, 50).unwrap();
    drop(tx);
    assert_eq!(
        issue(db, &of, 50).position,
        StatusPosition::new(40),
        "the position of a rolled-back badge is free"
    );
}

fn a_position_is_one_of_the_draws_and_a_full_list_is_left(db: &Fixture) {
    let of = assess(db, &db.activate().id, 1);
    let take = |draws: &[u32]| {
        db.write(Durable, |tx| {
            let badge = badge(&of, tx.lock_free_position(draws)?, 50);
            tx.insert_badge(&badge)?;
            Ok(badge.position.number())
        })
        .unwrap()
    };
    let len = StatusPosition::LIST_LEN;
    let last = u32::try_from(len - 1).unwrap();
    assert_eq!(take(&[last, 7]), len - 1);
    assert_eq!(take(&[last, 7]), 7);
    assert_eq!(take(&[7 + last + 1, 9]), 9, "an index is a draw modulo the length of a list");
    assert_eq!(take(&[7, 9, last]), len + 7, "no draw is free in the first list");
    assert_eq!(take(&[7, 9]), len + 9, "the newest list is used");
}

fn a_badge_is_revoked_once_and_its_bit_is_set(db: &Fixture) {
    let of = assess(db, &db.activate().id, 1);
    assert_eq!((revoked_in(db, 1), revoked_in(db, 0)), (None, None));
    let first = issue(db, &of, 50);
    issue(db, &of, 50);
    let third = issue(db, &of, 50);
    let far = badge(&of, StatusPosition::new(StatusPosition::LIST_LEN + 5), 50);
    db.write(Durable, |tx| tx.insert_badge(&far)).unwrap();
    assert_eq!(revoked_in(db, 1), Some(vec![]));
    let revoke = |id| db.write(Durable, |tx| tx.revoke_badge(id, &revocation(9))).unwrap();
    for id in [&third.id, &first.id, &far.id] {
        assert!(revoke(id) && !revoke(id));
    }
    assert!(!revoke(&fresh(BadgeId::new)));
    assert_eq!((revoked_in(db, 1), revoked_in(db, 2)), (Some(vec![0, 2]), Some(vec![5])));
    assert_eq!((revoked_in(db, 3), revoked_in(db, u64::MAX)), (None, None));
    let found = db.read(|reader| reader.find_badge(&first.id)).unwrap().unwrap().0;
    assert_eq!(found.revocation, Some(revocation(9)));
}

fn a_changed_badge_counts_as_revoked(db: &Fixture) {
    let of = assess(db, &db.activate().id, 1);
    let [first, second, third] = [(); 3].map(|()| issue(db, &of, 50));
    db.write(Durable, |tx| tx.revoke_badge(&first.id, &revocation(9))).unwrap();
    db.execute(&format!(
        "UPDATE badges SET revoked_at = NULL, revoked_by = NULL, revocation_reason = NULL WHERE id = '{}'; \
         UPDATE badges SET expires_at = 51 WHERE id = '{}'",
        first.id, second.id
    ))
    .unwrap();
    let is_revoked =
        |id| db.read(|reader| reader.find_badge(id)).unwrap().unwrap().0.revocation.is_some();
    assert_eq!([&first, &second, &third].map(|badge| is_revoked(&badge.id)), [true, true, false]);
    assert_eq!(revoked_in(db, 1), Some(vec![0]));
    let forged = |now| db.read(|reader| reader.forged_in(1, at(now))).unwrap();
    assert_eq!((forged(49), forged(51)), (vec![1], vec![]));
}

fn only_live_badges_are_counted(db: &Fixture) {
    let (key, other) = (db.activate().id, db.activate().id);
    let of = assess(db, &key, 1);
    issue(db, &assess(db, &other, 1), 50);
    issue(db, &of, 50);
    issue(db, &of, 51);
    let revoked = issue(db, &of, 51);
    db.write(Durable, |tx| tx.revoke_badge(&revoked.id, &revocation(9))).unwrap();
    let count = |now| db.write(Durable, |tx| tx.count_live_badges(&key, at(now))).unwrap();
    assert_eq!((count(49), count(50), count(51)), (2, 1, 0));
}

fn a_revoked_key_keeps_its_badges(db: &Fixture) {
    let key = db.activate().id;
    let of = assess(db, &key, 1);
    let (held, revoked) = (issue(db, &of, 50), issue(db, &of, 50));
    db.write(Durable, |tx| {
        tx.revoke_badge(&revoked.id, &revocation(9))?;
        tx.revoke_key(&key, at(9))
    })
    .unwrap();
    assert_eq!(revoked_in(db, 1), Some(vec![1]));
    assert!(db.read(|reader| reader.find_badge(&held.id)).unwrap().is_some());
}
