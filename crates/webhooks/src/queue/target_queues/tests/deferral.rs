use sealpost_domain::DeliveryId;

use super::*;

fn after(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

/// Opens the breaker of a target by failed attempts.
fn open_breaker(targets: &mut TargetQueues, target: u16) {
    for _ in 0..5 {
        attempt(targets, target, HealthSign::NoResponse, NOW);
    }
}

#[test]
fn an_opening_breaker_defers_the_queue() {
    let mut targets = targets(8, 512);
    for _ in 0..4 {
        assert_eq!(attempt(&mut targets, 1, HealthSign::NoResponse, NOW), None);
    }
    push_all(&mut targets, 1, 0..4);
    let (_, slot) = targets.next_delivery(NOW).unwrap();
    let change = targets.finish(webhook_id(1), &slot, HealthSign::NoResponse, NOW);
    assert_eq!(change, Some(BreakerTransition::Opened));
    assert_eq!(targets.counts(), QueueCounts { queued: 0, open_breakers: 1 });
    let released: Vec<_> =
        targets.take_to_release().iter().map(|(_, deferral)| deferral.from).collect();
    // The probe is due after 5 s, and the other deliveries are due after the probe.
    assert_eq!(released, [after(5), after(40), after(40)]);

    push(&mut targets, 1, 9);
    assert_eq!((targets.to_release(), targets.next_delivery(NOW).is_none()), (1, true));

    assert!(targets.push(delivery(1, 10), 0, after(30)), "the probe");
    assert!(targets.push(delivery(1, 11), 0, after(30)));
    let probe = start(&mut targets);
    assert_eq!((probe.len(), targets.to_release()), (1, 2));
    let change = targets.finish(webhook_id(1), &probe[0].1, RESPONSE, after(31));
    assert_eq!(change, Some(BreakerTransition::Closed));
    assert_eq!(
        (targets.to_release(), targets.counts().queued),
        (0, 2),
        "the deferred deliveries are queued again"
    );
    push_all(&mut targets, 1, 20..30);
    assert_eq!(start(&mut targets).len(), 8);
}

/// Takes the deliveries to return to the database, and records their release like a delivery worker, but without random
/// due times. Returns their due times.
fn release(targets: &mut TargetQueues, now: Timestamp) -> Vec<(DeliveryId, Timestamp)> {
    let released = targets.take_to_release();
    let released_rows: Vec<_> =
        released.iter().map(|(held, deferral)| (held.id(), deferral.due_at(0))).collect();
    for (id, due_at) in &released_rows {
        targets.record_released(*id, *due_at, now);
    }
    released_rows
}

#[test]
fn the_response_that_closes_a_breaker_expedites_the_deferred_deliveries_of_its_target() {
    let mut targets = targets(8, 512);
    for target in [1, 2] {
        open_breaker(&mut targets, target);
        push_all(&mut targets, target, 0..101);
    }
    let released_rows = release(&mut targets, NOW);
    assert_eq!(targets.take_expedited(), []);
    attempt(&mut targets, 1, RESPONSE, after(6));
    let expedited = targets.take_expedited();
    // The probe is already due.
    let expected = released_rows
        .iter()
        .filter(|(id, due_at)| id.webhook_id == webhook_id(1) && *due_at > after(6));
    let expected: Vec<_> = expected
        .map(|(id, from)| ExpeditedDelivery { id: *id, from: *from, to: after(6) })
        .collect();
    assert_eq!((expedited.len(), expedited), (100, expected));
    attempt(&mut targets, 1, RESPONSE, after(7));
    assert_eq!(targets.take_expedited(), [], "once");
}

#[test]
fn a_requested_delivery_is_the_next_probe_of_an_open_breaker() {
    let mut targets = targets(8, 512);
    open_breaker(&mut targets, 1);
    let request = |targets: &mut TargetQueues, envelope, requested_at, now| {
        let requested_at = Some(requested_at);
        targets.push(LeasedDelivery { requested_at, ..delivery(1, envelope) }, 10_000, now);
    };
    request(&mut targets, 0, NOW, after(1));
    assert_eq!((start(&mut targets).len(), targets.to_release()), (0, 1), "requested before");
    request(&mut targets, 1, after(1), after(1));
    request(&mut targets, 2, after(1), after(1));
    let probe = start(&mut targets);
    assert_eq!((probe.len(), targets.to_release()), (1, 2), "one at a time");
    targets.finish(webhook_id(1), &probe[0].1, HealthSign::NoResponse, after(2));
    request(&mut targets, 3, after(1), after(2));
    assert_eq!((start(&mut targets).len(), targets.to_release()), (0, 3), "one for a request");
    request(&mut targets, 4, after(3), after(3));
    let probe = start(&mut targets);
    let change = targets.finish(webhook_id(1), &probe[0].1, RESPONSE, after(4));
    assert_eq!(change, Some(BreakerTransition::Closed));
    assert_eq!((targets.to_release(), targets.counts().queued), (0, 3));
}

#[test]
fn a_relay_that_connects_again_gets_its_deferred_deliveries() {
    let mut targets = targets(8, 512);
    for target in [1, 2] {
        open_breaker(&mut targets, target);
        push_all(&mut targets, target, 0..9);
    }
    let released_rows = release(&mut targets, NOW);
    push(&mut targets, 1, 20);
    targets.reconnect(&[webhook_id(1), webhook_id(3)], after(1));
    let of_relay = released_rows.iter().filter(|(id, _)| id.webhook_id == webhook_id(1));
    let expected: Vec<_> = of_relay
        .map(|(id, from)| ExpeditedDelivery { id: *id, from: *from, to: after(1) })
        .collect();
    let expedited = targets.take_expedited();
    assert_eq!((expedited.len(), expedited), (9, expected));
    assert_eq!(
        (targets.to_release(), ids(&start(&mut targets))),
        (0, vec![webhook_id(1)]),
        "a delivery that was not released yet is queued again"
    );
}

#[test]
fn all_deferred_deliveries_of_a_relay_that_leaves_are_due_at_once() {
    let mut targets = targets(8, 512);
    open_breaker(&mut targets, 1);
    let more_than_a_response_expedites = RELEASE_BATCH_MAX + 1;
    push_all(&mut targets, 1, 0..u32::try_from(more_than_a_response_expedites).unwrap());
    release(&mut targets, NOW);
    targets.disconnect(&[webhook_id(1)], NOW);
    assert_eq!(targets.take_expedited().len(), more_than_a_response_expedites);
    push(&mut targets, 1, 9_000);
    assert_eq!(ids(&start(&mut targets)), [webhook_id(1)], "no open breaker defers the delivery");
}

#[test]
fn deliveries_that_are_queued_again_have_the_order_of_their_leases() {
    let mut targets = targets(8, 512);
    open_breaker(&mut targets, 1);
    assert!(targets.push(delivery(1, 9), 0, after(30)), "the probe");
    let leases = [after(90), after(60)];
    for (envelope, lease_until) in (10..).zip(leases) {
        assert!(targets.push(
            LeasedDelivery { lease_until, ..delivery(1, envelope) },
            0,
            after(30)
        ));
    }
    let (_, slot) = targets.next_delivery(NOW).unwrap();
    targets.finish(webhook_id(1), &slot, RESPONSE, after(31));
    let next = |_| targets.next_delivery(NOW).map(|(next, _)| next.lease_until);
    assert_eq!([0, 1].map(next), [Some(leases[1]), Some(leases[0])]);
}

#[test]
fn an_unstable_target_expedites_at_most_its_bound_in_flight() {
    let mut targets = targets(8, 512);
    attempt(&mut targets, 1, HealthSign::NoResponse, NOW);
    push_all(&mut targets, 1, 0..108);
    release(&mut targets, NOW);
    let (_, slot) = targets.next_delivery(NOW).unwrap();
    targets.finish(webhook_id(1), &slot, RESPONSE, NOW);
    assert_eq!((targets.take_expedited().len(), targets.counts().queued), (8, 7));
}

#[test]
fn withdrawn_deliveries_are_not_expedited() {
    let mut targets = targets(8, 512);
    open_breaker(&mut targets, 1);
    push_all(&mut targets, 1, 0..9);
    release(&mut targets, NOW);
    targets.withdraw(webhook_id(1), NOW);
    attempt(&mut targets, 1, RESPONSE, NOW.plus(Duration::from_secs(6)));
    assert_eq!(targets.take_expedited(), []);
}

#[test]
fn a_failed_probe_is_followed_by_another_deferred_delivery() {
    let mut targets = targets(8, 512);
    open_breaker(&mut targets, 1);
    push_all(&mut targets, 1, 0..9);
    let released_rows = release(&mut targets, NOW);
    targets.schedule_probes(NOW);
    assert_eq!(targets.take_expedited(), [], "one was released as the probe");
    for (probe, (failed, next)) in [(5, 15), (15, 35)].into_iter().enumerate() {
        attempt(&mut targets, 1, HealthSign::NoResponse, after(failed));
        targets.schedule_probes(after(failed));
        targets.schedule_probes(after(failed));
        let (id, from) = released_rows[1 + probe];
        assert_eq!(targets.take_expedited(), [ExpeditedDelivery { id, from, to: after(next) }]);
    }
    attempt(&mut targets, 1, HealthSign::NoResponse, after(35));
    targets.schedule_probes(after(36));
    assert_eq!(
        targets.take_expedited(),
        [],
        "the next deferred delivery is due before the next probe"
    );
}
