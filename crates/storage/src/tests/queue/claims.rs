//! Tests of claims, which lease due deliveries: each delivery goes to one worker, and no delivery blocks the others.

use std::{collections::BTreeSet, thread};

use sealpost_domain::{
    LeaseToken, LeasedDelivery, Target,
    ports::{ExpeditedDelivery, Outbox},
};

use crate::tests::fixture::{Fixture, at, claim_of};

on_both!(
    a_due_delivery_is_claimed_with_envelope_and_webhook,
    a_claim_respects_its_limit,
    the_earliest_due_time_comes_first,
    each_delivery_goes_to_one_of_many_claimers,
    only_an_expired_lease_can_be_claimed,
    a_delivery_without_webhook_or_envelope_is_deleted,
    a_disabled_webhook_is_not_claimed_and_blocks_no_other,
    an_unreadable_delivery_blocks_no_other,
    a_delivery_of_an_unknown_kind_of_event_stays_in_the_queue,
    only_the_holder_of_a_lease_releases_a_delivery_to_the_given_time,
    only_an_unleased_delivery_with_the_expected_due_time_is_expedited,
    every_lease_is_released_at_start,
);

fn claim(db: &Fixture, now: i64, limit: usize, lease: i64) -> Vec<LeasedDelivery> {
    db.claim(&claim_of(now, limit, LeaseToken(lease))).unwrap()
}

fn count(db: &Fixture, condition: &str) -> i64 {
    db.count(&format!("deliveries WHERE {condition}"))
}

fn a_due_delivery_is_claimed_with_envelope_and_webhook(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    let sent = db.send(&to, 1);
    assert!(claim(db, 999, 10, 1).is_empty());
    let due = claim(db, 1000, 10, 5);
    assert_eq!(due.len(), 1);
    let target = Target { account_id: key.account_id, ..Target::clone(&sent[0].target) };
    assert_eq!((&due[0].event, &*due[0].target), (&sent[0].event, &target));
    assert_eq!((due[0].attempts, due[0].lease), (0, LeaseToken(5)));
    assert_eq!(due[0].lease_until, at(2000));
}

fn a_claim_respects_its_limit(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 5);
    assert!(claim(db, 1000, 0, 1).is_empty());
    let sizes = [3, 3, 3].map(|limit| claim(db, 1000, limit, 1).len());
    assert_eq!(sizes, [3, 2, 0]);
}

fn the_earliest_due_time_comes_first(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 3);
    for (delivery, due_at) in sent.iter().zip([300, 100, 200]) {
        let id = delivery.event.id();
        db.execute(&format!("UPDATE deliveries SET due_at = {due_at} WHERE envelope_id = '{id}'"))
            .unwrap();
    }
    let order: Vec<_> = (0..3).map(|_| claim(db, 1000, 1, 1)[0].event.id()).collect();
    assert_eq!(order, [sent[1].event.id(), sent[2].event.id(), sent[0].event.id()]);
}

fn each_delivery_goes_to_one_of_many_claimers(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent: BTreeSet<_> = db.send(&to, 200).iter().map(LeasedDelivery::id).collect();
    let mut taken: Vec<_> = thread::scope(|scope| {
        let claimers: Vec<_> = (0..4)
            .map(|lease| {
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    loop {
                        let more = claim(db, 1000, 7, lease);
                        if more.is_empty() {
                            return mine;
                        }
                        mine.extend(more.iter().map(LeasedDelivery::id));
                    }
                })
            })
            .collect();
        claimers.into_iter().flat_map(|claimer| claimer.join().unwrap()).collect()
    });
    // A claim skips rows that another claim has locked, so the threads may stop early. The remaining deliveries are
    // claimed here.
    taken.extend(claim(db, 1000, 200, 9).iter().map(LeasedDelivery::id));
    assert_eq!(taken.len(), 200);
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), sent);
}

fn only_an_expired_lease_can_be_claimed(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 2);
    assert_eq!(claim(db, 1000, 2, 1).len(), 2);
    assert!(claim(db, 1999, 2, 2).is_empty());
    let again = claim(db, 2000, 2, 2);
    assert_eq!(again.len(), 2);
    assert!(again.iter().all(|delivery| delivery.lease == LeaseToken(2)));
}

fn a_delivery_without_webhook_or_envelope_is_deleted(db: &Fixture) {
    let (deleted, to) = (db.register(&db.activate().id), db.register(&db.activate().id));
    db.send(&deleted, 5);
    let sent = db.send(&to, 2);
    db.execute(&format!("DELETE FROM webhooks WHERE id = '{}'", deleted.id)).unwrap();
    db.execute(&format!("DELETE FROM envelopes WHERE id = '{}'", sent[0].event.id())).unwrap();
    let due = claim(db, 1000, 3, 1);
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].id(), sent[1].id());
    assert_eq!(count(db, "true"), 1);
}

fn a_disabled_webhook_is_not_claimed_and_blocks_no_other(db: &Fixture) {
    let (off, on) = (db.register(&db.activate().id), db.register(&db.activate().id));
    let set = |status| format!("UPDATE webhooks SET status = '{status}' WHERE id = '{}'", off.id);
    db.send(&off, 25);
    db.send(&on, 2);
    db.execute("UPDATE deliveries SET due_at = 900 WHERE envelope_id < (SELECT max(envelope_id) FROM deliveries)").unwrap();
    db.execute(&set("disabled")).unwrap();
    let due = claim(db, 1000, 2, 1);
    assert_eq!(due.len(), 2);
    assert!(due.iter().all(|delivery| delivery.target.webhook_id == on.id));
    assert_eq!(count(db, "due_at <= 1000"), 0, "parked deliveries are not due");
    assert_eq!(count(db, "lease IS NULL"), 25);
    db.execute(&set("enabled")).unwrap();
    assert_eq!(claim(db, 10_000_000, 100, 2).len(), 27);
}

fn an_unreadable_delivery_blocks_no_other(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 3);
    db.execute(&format!("UPDATE envelopes SET suite = 77 WHERE id = '{}'", sent[0].event.id()))
        .unwrap();
    assert_eq!(claim(db, 1000, 3, 1).len(), 2);
    assert_eq!(count(db, "true"), 3);
}

fn a_delivery_of_an_unknown_kind_of_event_stays_in_the_queue(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 2);
    let (id, unknown) = (sent[0].event.id(), "new_01h455vb4pex5vsknk084sn02q");
    db.execute(&format!(
        "UPDATE deliveries SET envelope_id = '{unknown}' WHERE envelope_id = '{id}'"
    ))
    .unwrap();
    assert_eq!(claim(db, 1000, 2, 1)[0].event, sent[1].event);
    assert_eq!(count(db, &format!("envelope_id = '{unknown}' AND lease IS NULL")), 1);
    db.execute("DELETE FROM webhooks").unwrap();
    claim(db, 10_000_000, 2, 2);
    assert_eq!(count(db, "true"), 0, "deliveries of deleted webhooks are deleted");
}

fn only_the_holder_of_a_lease_releases_a_delivery_to_the_given_time(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 2);
    let held = claim(db, 1000, 2, 1);
    db.release(&[], at(1100)).unwrap();
    db.release(&[(held[1].id(), LeaseToken(2))], at(1100)).unwrap();
    db.release(&[(held[0].id(), LeaseToken(1))], at(1100)).unwrap();
    assert!(claim(db, 1099, 2, 2).is_empty());
    let again = claim(db, 1100, 2, 2);
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].id(), held[0].id());
}

fn only_an_unleased_delivery_with_the_expected_due_time_is_expedited(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let [first, second, third] = <[_; 3]>::try_from(db.send(&to, 3)).unwrap().map(|it| it.id());
    let held: Vec<_> = claim(db, 1000, 3, 1).iter().map(|it| (it.id(), it.lease)).collect();
    let given_back: Vec<_> = held.into_iter().filter(|(id, _)| *id != third).collect();
    db.release(&given_back, at(5000)).unwrap();
    let expedited = |id, from| ExpeditedDelivery { id, from: at(from), to: at(1100) };
    db.expedite(&[]).unwrap();
    // Only the first delivery is expedited: the second has another due time than expected, and the third is leased.
    db.expedite(&[expedited(first, 5000), expedited(second, 4999), expedited(third, 2000)])
        .unwrap();
    assert!(claim(db, 1099, 9, 2).is_empty());
    let due = claim(db, 1100, 9, 2);
    assert_eq!(due.iter().map(LeasedDelivery::id).collect::<Vec<_>>(), [first]);
    assert_eq!(due[0].attempts, 0);
    assert_eq!(count(db, "due_at = 5000 AND lease IS NULL"), 1);
    assert_eq!(count(db, "due_at = 2000 AND lease = 1"), 1);
}

fn every_lease_is_released_at_start(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 3);
    assert_eq!(claim(db, 1000, 2, 1).len(), 2);
    db.execute("UPDATE deliveries SET due_at = NULL WHERE lease IS NULL").unwrap();
    db.release_every_lease(at(1001)).unwrap();
    assert_eq!(claim(db, 1001, 9, 2).len(), 2);
}
