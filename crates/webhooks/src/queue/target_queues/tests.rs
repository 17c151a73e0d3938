use std::ops::Range;

use sealpost_domain::DeliveryId;

use super::*;
use crate::tests::{
    fixture::settings,
    memory_outbox::{NOW, delivery, webhook_id},
};

fn targets(in_flight_per_target: usize, in_flight_max: usize) -> TargetQueues {
    TargetQueues::new(&Settings { in_flight_per_target, in_flight_max, ..settings() })
}

fn push(targets: &mut TargetQueues, target: u16, envelope: u32) -> bool {
    targets.push(delivery(target, envelope), 10_000, NOW)
}

fn push_all(targets: &mut TargetQueues, target: u16, envelopes: Range<u32>) {
    for envelope in envelopes {
        push(targets, target, envelope);
    }
}

/// Starts all requests that may start.
fn start(targets: &mut TargetQueues) -> Vec<(WebhookId, Slot)> {
    let next = || targets.next_delivery().map(|(next, slot)| (next.target.webhook_id, slot));
    std::iter::from_fn(next).collect()
}

fn ids(started: &[(WebhookId, Slot)]) -> Vec<WebhookId> {
    started.iter().map(|(id, _)| *id).collect()
}

/// Makes one request to the target, with or without a response.
fn attempt(
    targets: &mut TargetQueues,
    target: u16,
    sign: HealthSign,
    now: Timestamp,
) -> Option<BreakerTransition> {
    assert!(targets.push(delivery(target, 999), 10_000, now));
    let (_, slot) = targets.next_delivery().unwrap();
    targets.finish(webhook_id(target), &slot, sign, now)
}

#[test]
fn turns_are_round_robin() {
    let mut targets = targets(8, 512);
    attempt(&mut targets, 1, HealthSign::Response, NOW);
    push_all(&mut targets, 1, 0..3);
    push(&mut targets, 2, 9);
    let [a, b] = [webhook_id(1), webhook_id(2)];
    assert_eq!(ids(&start(&mut targets)), [a, b, a, a]);
}

#[test]
fn requests_in_flight_to_a_responsive_target_are_bounded() {
    let mut targets = targets(2, 512);
    attempt(&mut targets, 1, HealthSign::Response, NOW);
    push_all(&mut targets, 1, 0..5);
    let started = start(&mut targets);
    assert_eq!(started.len(), 2);
    targets.finish(webhook_id(1), &started[0].1, HealthSign::Response, NOW);
    assert_eq!(start(&mut targets).len(), 1);
    push(&mut targets, 2, 0);
    assert_eq!(ids(&start(&mut targets)), [webhook_id(2)]);
}

#[test]
fn an_untried_target_has_one_request_at_a_time_until_it_responds() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..20);
    let first = start(&mut targets);
    assert_eq!(first.len(), 1);
    targets.finish(webhook_id(1), &first[0].1, HealthSign::NoResponse, NOW);
    let second = start(&mut targets);
    assert_eq!(second.len(), 1, "still no response");
    targets.finish(webhook_id(1), &second[0].1, HealthSign::Response, NOW);
    push_all(&mut targets, 1, 20..30);
    assert_eq!(start(&mut targets).len(), 8);
}

#[test]
fn hanging_targets_leave_slots_for_responsive_ones() {
    let mut targets = targets(8, 64);
    attempt(&mut targets, 1, HealthSign::Response, NOW);
    for hanging in 100..300 {
        push(&mut targets, hanging, 0);
    }
    let new = start(&mut targets);
    assert_eq!(new.len(), 32, "untried targets get half of the slots");
    for (id, slot) in &new {
        targets.finish(*id, slot, HealthSign::NoResponse, NOW);
        push(&mut targets, u16::try_from(id_number(*id)).unwrap(), 1);
    }
    // The next 32 untried targets, and a quarter of the slots for the 32 unresponsive ones.
    assert_eq!(start(&mut targets).len(), 48);
    push(&mut targets, 1, 0);
    assert_eq!(ids(&start(&mut targets)), [webhook_id(1)]);
}

/// Returns the number that the id was made of.
fn id_number(id: WebhookId) -> u32 {
    (0..1000_u16).find(|number| webhook_id(*number) == id).unwrap().into()
}

#[test]
fn targets_get_slots_in_the_order_in_which_they_waited() {
    let mut targets = targets(8, 4);
    for target in 1..=5 {
        push(&mut targets, target, 0);
    }
    let mut started = start(&mut targets);
    let mut order = ids(&started);
    while let Some((id, slot)) = started.pop() {
        targets.finish(id, &slot, HealthSign::Response, NOW);
        let next = start(&mut targets);
        order.extend(ids(&next));
        started.extend(next);
    }
    assert_eq!(order, [1, 2, 3, 4, 5].map(webhook_id));
}

#[test]
fn responsive_targets_that_begin_to_hang_leave_slots_for_others() {
    let mut targets = targets(8, 64);
    for target in 1..=40 {
        attempt(&mut targets, target, HealthSign::Response, NOW);
    }
    for target in 1..=39 {
        push_all(&mut targets, target, 0..20);
    }
    let hanging = start(&mut targets).len();
    assert!((39..=62).contains(&hanging), "{hanging}");
    push(&mut targets, 40, 0);
    assert_eq!(ids(&start(&mut targets)), [webhook_id(40)]);
}

#[test]
fn an_opening_breaker_defers_the_queue() {
    let mut targets = targets(8, 512);
    let after = |seconds| NOW.plus(Duration::from_secs(seconds));
    for _ in 0..4 {
        assert_eq!(attempt(&mut targets, 1, HealthSign::NoResponse, NOW), None);
    }
    push_all(&mut targets, 1, 0..4);
    let (_, slot) = targets.next_delivery().unwrap();
    let change = targets.finish(webhook_id(1), &slot, HealthSign::NoResponse, NOW);
    assert_eq!(change, Some(BreakerTransition::Opened));
    assert_eq!(targets.counts(), QueueCounts { queued: 0, open_breakers: 1 });
    let released: Vec<_> =
        targets.take_to_release().iter().map(|(_, deferral)| deferral.from).collect();
    // The probe is due after 5 s, the others after it.
    assert_eq!(released, [after(5), after(40), after(40)]);

    push(&mut targets, 1, 9);
    assert_eq!((targets.to_release(), targets.next_delivery().is_none()), (1, true));

    assert!(targets.push(delivery(1, 10), 0, after(30)), "the probe");
    assert!(targets.push(delivery(1, 11), 0, after(30)));
    let probe = start(&mut targets);
    assert_eq!((probe.len(), targets.to_release()), (1, 2));
    let change = targets.finish(webhook_id(1), &probe[0].1, HealthSign::Response, after(31));
    assert_eq!(change, Some(BreakerTransition::Closed));
    assert_eq!(
        (targets.to_release(), targets.counts().queued),
        (0, 2),
        "the deferred deliveries are queued again"
    );
    push_all(&mut targets, 1, 20..30);
    assert_eq!(start(&mut targets).len(), 8);
}

/// Releases deferred deliveries like a delivery worker, without jitter.
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
    let after = |seconds| NOW.plus(Duration::from_secs(seconds));
    for target in [1, 2] {
        for _ in 0..5 {
            attempt(&mut targets, target, HealthSign::NoResponse, NOW);
        }
        push_all(&mut targets, target, 0..101);
    }
    let released_rows = release(&mut targets, NOW);
    assert_eq!(targets.take_expedited(), []);
    attempt(&mut targets, 1, HealthSign::Response, after(6));
    let expedited = targets.take_expedited();
    // The probe is already due.
    let expected = released_rows
        .iter()
        .filter(|(id, due_at)| id.webhook_id == webhook_id(1) && *due_at > after(6));
    let expected: Vec<_> = expected
        .map(|(id, from)| ExpeditedDelivery { id: *id, from: *from, to: after(6) })
        .collect();
    assert_eq!((expedited.len(), expedited), (100, expected));
    attempt(&mut targets, 1, HealthSign::Response, after(7));
    assert_eq!(targets.take_expedited(), [], "once");
}

#[test]
fn an_unstable_target_expedites_at_most_its_bound_in_flight() {
    let mut targets = targets(8, 512);
    attempt(&mut targets, 1, HealthSign::NoResponse, NOW);
    push_all(&mut targets, 1, 0..108);
    release(&mut targets, NOW);
    let (_, slot) = targets.next_delivery().unwrap();
    targets.finish(webhook_id(1), &slot, HealthSign::Response, NOW);
    assert_eq!((targets.take_expedited().len(), targets.counts().queued), (8, 7));
}

#[test]
fn withdrawn_deliveries_are_not_expedited() {
    let mut targets = targets(8, 512);
    for _ in 0..5 {
        attempt(&mut targets, 1, HealthSign::NoResponse, NOW);
    }
    push_all(&mut targets, 1, 0..9);
    release(&mut targets, NOW);
    targets.withdraw(webhook_id(1), NOW);
    attempt(&mut targets, 1, HealthSign::Response, NOW.plus(Duration::from_secs(6)));
    assert_eq!(targets.take_expedited(), []);
}

#[test]
fn a_failed_probe_is_followed_by_another_deferred_delivery() {
    let mut targets = targets(8, 512);
    let after = |seconds| NOW.plus(Duration::from_secs(seconds));
    for _ in 0..5 {
        attempt(&mut targets, 1, HealthSign::NoResponse, NOW);
    }
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

#[test]
fn an_unresponsive_target_keeps_few_deliveries_in_memory() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..1000);
    let (_, slot) = targets.next_delivery().unwrap();
    targets.finish(webhook_id(1), &slot, HealthSign::NoResponse, NOW);
    assert_eq!((targets.counts().queued, targets.to_release()), (8, 991));
    push(&mut targets, 1, 2000);
    assert_eq!((targets.counts().queued, targets.to_release()), (8, 992));
}

#[test]
fn withdrawn_deliveries_are_due_at_once() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..3);
    assert!(targets.queued_targets().eq([webhook_id(1)]));
    targets.withdraw(webhook_id(1), NOW);
    assert_eq!(targets.queued_targets().count(), 0);
    let withdrawn = targets.take_to_release();
    assert_eq!(withdrawn.len(), 3);
    assert!(withdrawn.iter().all(|(_, deferral)| deferral.due_at(u32::MAX) == NOW));
    assert!(start(&mut targets).is_empty());
}

#[test]
fn a_target_never_takes_all_the_capacity() {
    let mut targets = targets(8, 512);
    let queued = (0..100).filter(|taken| {
        let free = 100 - usize::try_from(*taken).unwrap();
        targets.push(delivery(1, *taken), free, NOW)
    });
    assert_eq!(queued.count(), 51);
    assert!(targets.push(delivery(2, 0), 0, NOW), "another target is always accepted");
}

#[test]
fn deliveries_with_too_little_lease_left_are_dropped() {
    let mut targets = targets(8, 512);
    push(&mut targets, 1, 0);
    let until = delivery(1, 0).lease_until;
    assert_eq!(targets.remove_expired(until), 0);
    assert_eq!(targets.remove_expired(Timestamp::from_millis(until.as_millis() + 1)), 1);
    assert!(start(&mut targets).is_empty());
    push(&mut targets, 1, 1);
    assert_eq!(start(&mut targets).len(), 1, "the target still gets turns");
}
