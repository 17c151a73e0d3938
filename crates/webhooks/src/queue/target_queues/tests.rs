mod deferral;

use std::ops::Range;

use super::*;
use crate::tests::{
    fixture::settings,
    memory_outbox::{NOW, delivery, webhook_id},
};

const RESPONSE: HealthSign = HealthSign::Response(Duration::from_millis(5));

fn queues(settings: &Settings) -> TargetQueues {
    TargetQueues::new(settings, Arc::new(HostRates::new(settings.per_minute_per_host)))
}

fn targets(in_flight_per_target: usize, in_flight_max: usize) -> TargetQueues {
    queues(&Settings { in_flight_per_target, in_flight_max, ..settings() })
}

fn push(targets: &mut TargetQueues, target: u16, envelope: u32) -> bool {
    targets.push(delivery(target, envelope), 10_000, NOW)
}

fn push_all(targets: &mut TargetQueues, target: u16, envelopes: Range<u32>) {
    for envelope in envelopes {
        push(targets, target, envelope);
    }
}

/// Starts requests until no further request may start. Returns the targets and the slots of the started requests.
fn start(targets: &mut TargetQueues) -> Vec<(WebhookId, Slot)> {
    let next = || targets.next_delivery(NOW).map(|(next, slot)| (next.target.webhook_id, slot));
    std::iter::from_fn(next).collect()
}

fn ids(started: &[(WebhookId, Slot)]) -> Vec<WebhookId> {
    started.iter().map(|(id, _)| *id).collect()
}

/// Makes one request to the target. `sign` is its result, for example no response.
fn attempt(
    targets: &mut TargetQueues,
    target: u16,
    sign: HealthSign,
    now: Timestamp,
) -> Option<BreakerTransition> {
    assert!(targets.push(delivery(target, 999), 10_000, now));
    let (_, slot) = targets.next_delivery(NOW).unwrap();
    targets.finish(webhook_id(target), &slot, sign, now)
}

#[test]
fn turns_are_round_robin() {
    let mut targets = targets(8, 512);
    attempt(&mut targets, 1, RESPONSE, NOW);
    push_all(&mut targets, 1, 0..3);
    push(&mut targets, 2, 9);
    let [a, b] = [webhook_id(1), webhook_id(2)];
    assert_eq!(ids(&start(&mut targets)), [a, b, a, a]);
}

#[test]
fn deliveries_start_in_the_order_of_their_leases() {
    let mut targets = targets(8, 512);
    attempt(&mut targets, 1, RESPONSE, NOW);
    // The connection of a relay has ended. Its deliveries return to the queue after younger deliveries.
    for (envelope, lease_s) in [(3, 30), (1, 10), (4, 30), (2, 20)] {
        let lease_until = NOW.plus(Duration::from_secs(lease_s));
        let returned = LeasedDelivery { lease_until, ..delivery(1, envelope) };
        assert!(targets.push(returned, 10_000, NOW));
    }
    let next = || targets.next_delivery(NOW).map(|(next, _)| next.event.id());
    let started: Vec<_> = std::iter::from_fn(next).collect();
    assert_eq!(started, [1, 2, 3, 4].map(|envelope| delivery(1, envelope).event.id()));
}

#[test]
fn requests_in_flight_to_a_responsive_target_are_bounded() {
    let mut targets = targets(2, 512);
    attempt(&mut targets, 1, RESPONSE, NOW);
    push_all(&mut targets, 1, 0..5);
    let started = start(&mut targets);
    assert_eq!(started.len(), 2);
    targets.finish(webhook_id(1), &started[0].1, RESPONSE, NOW);
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
    targets.finish(webhook_id(1), &second[0].1, RESPONSE, NOW);
    push_all(&mut targets, 1, 20..30);
    assert_eq!(start(&mut targets).len(), 8);
}

#[test]
fn hanging_targets_leave_slots_for_responsive_ones() {
    let mut targets = targets(8, 64);
    attempt(&mut targets, 1, RESPONSE, NOW);
    for hanging in 100..300 {
        push(&mut targets, hanging, 0);
    }
    let new = start(&mut targets);
    assert_eq!(new.len(), 32, "untried targets get half of the slots");
    for (id, slot) in &new {
        targets.finish(*id, slot, HealthSign::NoResponse, NOW);
        push(&mut targets, u16::try_from(id_number(*id)).unwrap(), 1);
    }
    // 32 further untried targets start, and 16 of the 32 unresponsive targets: a quarter of the 64 slots.
    assert_eq!(start(&mut targets).len(), 48);
    push(&mut targets, 1, 0);
    assert_eq!(ids(&start(&mut targets)), [webhook_id(1)]);
}

/// Returns the number from which the id of a test webhook was created.
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
        targets.finish(id, &slot, RESPONSE, NOW);
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
        attempt(&mut targets, target, RESPONSE, NOW);
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
fn an_account_has_an_eighth_of_the_slots_and_half_of_them_for_targets_that_are_not_responsive() {
    let mut targets = targets(8, 512);
    for target in 1000..1100 {
        attempt(&mut targets, target, RESPONSE, NOW);
    }
    for target in (1000..1100).chain(2000..2100).chain([1]) {
        push(&mut targets, target, 0);
    }
    let started = start(&mut targets);
    let of_account = |account: u16| {
        let ids: Vec<_> = (account..account + 100).map(webhook_id).collect();
        started.iter().filter(|(id, _)| ids.contains(id)).count()
    };
    assert_eq!((of_account(1000), of_account(2000)), (64, 32));
    assert!(ids(&started[..4]).contains(&webhook_id(1)), "the turns of accounts alternate");
    let (id, slot) = started.iter().find(|(id, _)| *id == webhook_id(1000)).unwrap();
    targets.finish(*id, slot, RESPONSE, NOW);
    assert_eq!(start(&mut targets).len(), 1, "the next target of the account");
}

#[test]
fn slow_targets_share_an_eighth_of_the_slots() {
    let mut targets = targets(8, 64);
    let slow = HealthSign::Response(Duration::from_secs(14));
    for target in 1..=40 {
        attempt(&mut targets, target, if target == 40 { RESPONSE } else { slow }, NOW);
    }
    for target in 1..=40 {
        push_all(&mut targets, target, 0..20);
    }
    let started = start(&mut targets);
    let fast = started.iter().filter(|(id, _)| *id == webhook_id(40)).count();
    assert_eq!((fast, started.len() - fast), (8, 8));
}

#[test]
fn requests_to_a_host_are_bounded_over_all_targets() {
    let settings = Settings { in_flight_per_host: 3, per_minute_per_host: 5, ..settings() };
    let mut targets = queues(&settings);
    for target in 1..=9 {
        push(&mut targets, target, 0);
    }
    let mut started = start(&mut targets);
    assert_eq!(started.len(), 3);
    for expected in [1, 1, 0, 0, 0] {
        let (id, slot) = started.remove(0);
        targets.finish(id, &slot, RESPONSE, NOW);
        let next = start(&mut targets);
        assert_eq!(next.len(), expected);
        started.extend(next);
    }
    targets.retry_hosts();
    assert_eq!(start(&mut targets).len(), 0, "the requests of this minute are used up");
    targets.retry_hosts();
    let next_minute = NOW.plus(Duration::from_mins(1));
    for number in 1..=9 {
        targets.refresh(&delivery(number, 0).target, next_minute, next_minute);
    }
    let next = std::iter::from_fn(|| targets.next_delivery(next_minute));
    assert_eq!(next.count(), 3);
}

#[test]
fn an_account_with_many_targets_leaves_memory_for_others() {
    let mut targets = queues(&Settings { queue_max: 1000, ..settings() });
    let free = |targets: &TargetQueues| 1000 - targets.counts().queued;
    for (target, envelope) in (1000..1100).zip((0..10).cycle()) {
        for number in 0..10 {
            let free = free(&targets);
            targets.push(delivery(target, envelope * 10 + number), free, NOW);
        }
    }
    assert_eq!((targets.counts().queued, targets.to_release()), (501, 499));
    assert!(targets.push(delivery(1, 0), free(&targets), NOW));
    let full = targets.changed_full_targets(free(&targets)).unwrap();
    assert!(full.contains(&webhook_id(1099)) && !full.contains(&webhook_id(1)));
}

#[test]
fn an_unresponsive_target_keeps_few_deliveries_in_memory() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..1000);
    let (_, slot) = targets.next_delivery(NOW).unwrap();
    targets.finish(webhook_id(1), &slot, HealthSign::NoResponse, NOW);
    assert_eq!((targets.counts().queued, targets.to_release()), (8, 991));
    push(&mut targets, 1, 2000);
    assert_eq!((targets.counts().queued, targets.to_release()), (8, 992));
}

#[test]
fn withdrawn_deliveries_are_due_at_once() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..3);
    let later = NOW.plus(Duration::from_secs(1));
    assert_eq!(targets.targets_to_refresh(NOW).count(), 0);
    assert!(targets.targets_to_refresh(later).eq([webhook_id(1)]));
    targets.withdraw(webhook_id(1), NOW);
    assert_eq!(targets.targets_to_refresh(later).count(), 0);
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
    let refused = targets.take_to_release();
    assert_eq!(refused.len(), 49);
    assert!(refused.iter().all(|(_, deferral)| deferral.due_at(u32::MAX) == NOW));
}

#[test]
fn a_full_target_has_room_again_when_a_part_of_its_queue_is_sent() {
    let settings = Settings { queue_max: 128, claim_max: 16, ..settings() };
    let mut targets = queues(&settings);
    let free = |targets: &TargetQueues| 128 - targets.counts().queued;
    let push = |targets: &mut TargetQueues, envelope| {
        let free = free(targets);
        targets.push(delivery(1, envelope), free, NOW)
    };
    (0..56).for_each(|envelope| assert!(push(&mut targets, envelope)));
    assert_eq!(targets.changed_full_targets(72), None, "a claim fits");
    assert!(push(&mut targets, 56));
    assert_eq!(targets.changed_full_targets(71), Some([webhook_id(1)].into()));
    assert_eq!(targets.changed_full_targets(71), None, "no change");
    let send = |targets: &mut TargetQueues| {
        let (_, slot) = targets.next_delivery(NOW).unwrap();
        targets.finish(webhook_id(1), &slot, RESPONSE, NOW);
        let free = free(targets);
        targets.changed_full_targets(free)
    };
    // The rest of the queue keeps the target busy until the claim.
    for queued in (43..57).rev() {
        assert_eq!(send(&mut targets), None, "{queued}");
    }
    assert_eq!(send(&mut targets), Some([].into()));
}

#[test]
fn deliveries_with_too_little_lease_left_are_released_at_once() {
    let mut targets = targets(8, 512);
    push(&mut targets, 1, 0);
    let until = delivery(1, 0).lease_until;
    targets.remove_expired(until, NOW);
    assert_eq!(targets.to_release(), 0);
    targets.remove_expired(until.plus(Duration::from_millis(1)), NOW);
    let released = targets.take_to_release();
    assert_eq!((released.len(), released[0].1), (1, Deferral::until(NOW)));
    assert!(start(&mut targets).is_empty());
    push(&mut targets, 1, 1);
    assert_eq!(start(&mut targets).len(), 1, "the target still gets turns");
}

#[test]
fn a_target_that_was_read_too_long_ago_waits_until_it_is_read_again() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..3);
    let (_, slot) = targets.next_delivery(NOW).unwrap();
    let later = NOW.plus(Duration::from_secs(2));
    targets.finish(webhook_id(1), &slot, HealthSign::Response(Duration::ZERO), later);
    assert!(targets.next_delivery(later).is_none());
    let old = delivery(1, 0).target;
    let new = Arc::new(Target { url: "https://new.test/".to_owned(), ..Target::clone(&old) });
    targets.refresh(&new, later, later);
    targets.refresh(&old, NOW, later);
    let (next, _) = targets.next_delivery(later).unwrap();
    assert_eq!(next.target.url, new.url, "a late message about an earlier read changes nothing");
}

#[test]
fn a_clock_that_was_set_back_does_not_keep_an_old_target() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..1);
    let earlier = NOW.minus(Duration::from_hours(1));
    assert!(targets.next_delivery(earlier).is_none());
    let new =
        Target { url: "https://new.test/".to_owned(), ..Target::clone(&delivery(1, 0).target) };
    targets.refresh(&Arc::new(new), earlier, earlier);
    let (next, _) = targets.next_delivery(earlier).unwrap();
    assert_eq!(next.target.url, "https://new.test/");
}
