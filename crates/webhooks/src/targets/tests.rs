use std::{ops::Range, rc::Rc};

use sealpost_domain::DeliveryId;

use super::*;
use crate::{
    client::{Egress, tls_config},
    tests::{
        names::fixed,
        outbox::{NOW, delivery, webhook_id},
        rig::{SECRET, keyring, settings, target},
    },
};

fn targets(in_flight_per_target: usize, in_flight_max: usize) -> Targets {
    Targets::new(&Settings { in_flight_per_target, in_flight_max, ..settings() })
}

fn push(targets: &mut Targets, target: u16, envelope: u32) -> bool {
    targets.push(delivery(target, envelope), 10_000, NOW)
}

fn push_all(targets: &mut Targets, target: u16, envelopes: Range<u32>) {
    for envelope in envelopes {
        push(targets, target, envelope);
    }
}

/// Begins all that may be begun.
fn begin(targets: &mut Targets) -> Vec<(WebhookId, Place)> {
    let next = || targets.next().map(|(next, place)| (next.target.webhook_id, place));
    std::iter::from_fn(next).collect()
}

fn ids(begun: &[(WebhookId, Place)]) -> Vec<WebhookId> {
    begun.iter().map(|(id, _)| *id).collect()
}

/// One request to the target, which is heard of or not.
fn attempt(targets: &mut Targets, target: u16, heard: Heard, now: Timestamp) -> Option<Change> {
    assert!(targets.push(delivery(target, 999), 10_000, now));
    let (_, place) = targets.next().unwrap();
    targets.finished(webhook_id(target), &place, heard, now)
}

#[test]
fn turns_go_round() {
    let mut targets = targets(8, 512);
    attempt(&mut targets, 1, Heard::Answer, NOW);
    push_all(&mut targets, 1, 0..3);
    push(&mut targets, 2, 9);
    let [a, b] = [webhook_id(1), webhook_id(2)];
    assert_eq!(ids(&begin(&mut targets)), [a, b, a, a]);
}

#[test]
fn a_target_that_answers_has_so_many_requests_under_way_and_no_more() {
    let mut targets = targets(2, 512);
    attempt(&mut targets, 1, Heard::Answer, NOW);
    push_all(&mut targets, 1, 0..5);
    let begun = begin(&mut targets);
    assert_eq!(begun.len(), 2);
    targets.finished(webhook_id(1), &begun[0].1, Heard::Answer, NOW);
    assert_eq!(begin(&mut targets).len(), 1);
    push(&mut targets, 2, 0);
    assert_eq!(ids(&begin(&mut targets)), [webhook_id(2)]);
}

#[test]
fn one_that_was_not_heard_of_has_one_request_at_a_time_until_it_answers() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..20);
    let first = begin(&mut targets);
    assert_eq!(first.len(), 1);
    targets.finished(webhook_id(1), &first[0].1, Heard::Nothing, NOW);
    let second = begin(&mut targets);
    assert_eq!(second.len(), 1, "it keeps silent");
    targets.finished(webhook_id(1), &second[0].1, Heard::Answer, NOW);
    push_all(&mut targets, 1, 20..30);
    assert_eq!(begin(&mut targets).len(), 8);
}

#[test]
fn however_many_targets_hang_some_places_are_left_for_those_that_answer() {
    let mut targets = targets(8, 64);
    attempt(&mut targets, 1, Heard::Answer, NOW);
    for hanging in 100..300 {
        push(&mut targets, hanging, 0);
    }
    let new = begin(&mut targets);
    assert_eq!(new.len(), 32, "half of the places for those that were not heard of");
    for (id, place) in &new {
        targets.finished(*id, place, Heard::Nothing, NOW);
        push(&mut targets, u16::try_from(id_number(*id)).unwrap(), 1);
    }
    // The next 32 that were not heard of, and a quarter of the places for the 32 that kept silent.
    assert_eq!(begin(&mut targets).len(), 48);
    push(&mut targets, 1, 0);
    assert_eq!(ids(&begin(&mut targets)), [webhook_id(1)]);
}

/// The number that it was made of.
fn id_number(id: WebhookId) -> u32 {
    (0..1000_u16).find(|number| webhook_id(*number) == id).unwrap().into()
}

#[test]
fn whoever_waited_for_a_place_gets_it_when_there_is_one() {
    let mut targets = targets(8, 4);
    for target in 1..=5 {
        push(&mut targets, target, 0);
    }
    let mut begun = begin(&mut targets);
    let mut order = ids(&begun);
    while let Some((id, place)) = begun.pop() {
        targets.finished(id, &place, Heard::Answer, NOW);
        let next = begin(&mut targets);
        order.extend(ids(&next));
        begun.extend(next);
    }
    assert_eq!(order, [1, 2, 3, 4, 5].map(webhook_id));
}

#[test]
fn many_that_answered_and_now_hang_leave_places_for_others() {
    let mut targets = targets(8, 64);
    for target in 1..=40 {
        attempt(&mut targets, target, Heard::Answer, NOW);
    }
    for target in 1..=39 {
        push_all(&mut targets, target, 0..20);
    }
    let hanging = begin(&mut targets).len();
    assert!((39..=62).contains(&hanging), "{hanging}");
    push(&mut targets, 40, 0);
    assert_eq!(ids(&begin(&mut targets)), [webhook_id(40)]);
}

#[test]
fn what_waits_for_a_target_whose_breaker_opens_is_postponed() {
    let mut targets = targets(8, 512);
    let after = |seconds| NOW.plus(Duration::from_secs(seconds));
    for _ in 0..4 {
        assert_eq!(attempt(&mut targets, 1, Heard::Nothing, NOW), None);
    }
    push_all(&mut targets, 1, 0..4);
    let (_, place) = targets.next().unwrap();
    let change = targets.finished(webhook_id(1), &place, Heard::Nothing, NOW);
    assert_eq!(change, Some(Change::Opened));
    assert_eq!(targets.census(), Census { queued: 0, open_breakers: 1 });
    let postponed: Vec<_> = targets.take_postponed().iter().map(|(_, wait)| wait.from).collect();
    // The probe after 5 s; the others in their time.
    assert_eq!(postponed, [after(5), after(40), after(40)]);

    push(&mut targets, 1, 9);
    assert_eq!((targets.postponed(), targets.next().is_none()), (1, true));

    assert!(targets.push(delivery(1, 10), 0, after(30)), "the probe");
    assert!(targets.push(delivery(1, 11), 0, after(30)));
    let probe = begin(&mut targets);
    assert_eq!((probe.len(), targets.postponed()), (1, 2));
    let change = targets.finished(webhook_id(1), &probe[0].1, Heard::Answer, after(31));
    assert_eq!(change, Some(Change::Closed));
    assert_eq!((targets.postponed(), targets.census().queued), (0, 2), "they are queued again");
    push_all(&mut targets, 1, 20..30);
    assert_eq!(begin(&mut targets).len(), 8);
}

/// Gives back all that is postponed, as a lane does it without jitter.
fn give_back(targets: &mut Targets, now: Timestamp) -> Vec<(DeliveryId, Timestamp)> {
    let postponed = targets.take_postponed();
    let given: Vec<_> = postponed.iter().map(|(held, wait)| (held.id(), wait.due_at(0))).collect();
    for (id, due_at) in &given {
        targets.gave_back(*id, *due_at, now);
    }
    given
}

#[test]
fn the_answer_that_closes_a_breaker_wakes_what_was_given_back_and_no_other_does() {
    let mut targets = targets(8, 512);
    let after = |seconds| NOW.plus(Duration::from_secs(seconds));
    for target in [1, 2] {
        for _ in 0..5 {
            attempt(&mut targets, target, Heard::Nothing, NOW);
        }
        push_all(&mut targets, target, 0..101);
    }
    let given = give_back(&mut targets, NOW);
    assert_eq!(targets.take_hastened(), []);
    attempt(&mut targets, 1, Heard::Answer, after(6));
    let woken = targets.take_hastened();
    // The probe is due by itself.
    let expected =
        given.iter().filter(|(id, due_at)| id.webhook_id == webhook_id(1) && *due_at > after(6));
    let expected: Vec<_> = expected
        .map(|(id, from)| ExpeditedDelivery { id: *id, from: *from, to: after(6) })
        .collect();
    assert_eq!((woken.len(), woken), (100, expected));
    attempt(&mut targets, 1, Heard::Answer, after(7));
    assert_eq!(targets.take_hastened(), [], "once");
}

#[test]
fn a_target_that_comes_and_goes_wakes_no_more_than_it_may_have_under_way() {
    let mut targets = targets(8, 512);
    attempt(&mut targets, 1, Heard::Nothing, NOW);
    push_all(&mut targets, 1, 0..108);
    give_back(&mut targets, NOW);
    let (_, place) = targets.next().unwrap();
    targets.finished(webhook_id(1), &place, Heard::Answer, NOW);
    assert_eq!((targets.take_hastened().len(), targets.census().queued), (8, 7));
}

#[test]
fn what_was_withdrawn_is_not_woken() {
    let mut targets = targets(8, 512);
    for _ in 0..5 {
        attempt(&mut targets, 1, Heard::Nothing, NOW);
    }
    push_all(&mut targets, 1, 0..9);
    give_back(&mut targets, NOW);
    targets.withdraw(webhook_id(1), NOW);
    attempt(&mut targets, 1, Heard::Answer, NOW.plus(Duration::from_secs(6)));
    assert_eq!(targets.take_hastened(), []);
}

#[test]
fn each_probe_in_vain_is_followed_by_one_more_of_what_waits() {
    let mut targets = targets(8, 512);
    let after = |seconds| NOW.plus(Duration::from_secs(seconds));
    for _ in 0..5 {
        attempt(&mut targets, 1, Heard::Nothing, NOW);
    }
    push_all(&mut targets, 1, 0..9);
    let given = give_back(&mut targets, NOW);
    targets.find_probes(NOW);
    assert_eq!(targets.take_hastened(), [], "one was given back as the probe");
    for (place, (failed, next)) in [(5, 15), (15, 35)].into_iter().enumerate() {
        attempt(&mut targets, 1, Heard::Nothing, after(failed));
        targets.find_probes(after(failed));
        targets.find_probes(after(failed));
        let (id, from) = given[1 + place];
        assert_eq!(targets.take_hastened(), [ExpeditedDelivery { id, from, to: after(next) }]);
    }
    attempt(&mut targets, 1, Heard::Nothing, after(35));
    targets.find_probes(after(36));
    assert_eq!(targets.take_hastened(), [], "what waits comes sooner by itself");
}

#[test]
fn a_silent_target_keeps_few_in_memory() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..1000);
    let (_, place) = targets.next().unwrap();
    targets.finished(webhook_id(1), &place, Heard::Nothing, NOW);
    assert_eq!((targets.census().queued, targets.postponed()), (8, 991));
    push(&mut targets, 1, 2000);
    assert_eq!((targets.census().queued, targets.postponed()), (8, 992));
}

#[test]
fn what_is_withdrawn_is_due_at_once_for_the_database_to_judge() {
    let mut targets = targets(8, 512);
    push_all(&mut targets, 1, 0..3);
    assert!(targets.waiting().eq([webhook_id(1)]));
    targets.withdraw(webhook_id(1), NOW);
    assert_eq!(targets.waiting().count(), 0);
    let withdrawn = targets.take_postponed();
    assert_eq!(withdrawn.len(), 3);
    assert!(withdrawn.iter().all(|(_, wait)| wait.due_at(u32::MAX) == NOW));
    assert!(begin(&mut targets).is_empty());
}

#[test]
fn a_target_never_takes_all_the_room() {
    let mut targets = targets(8, 512);
    let queued = (0..100).filter(|taken| {
        let free = 100 - usize::try_from(*taken).unwrap();
        targets.push(delivery(1, *taken), free, NOW)
    });
    assert_eq!(queued.count(), 51);
    assert!(targets.push(delivery(2, 0), 0, NOW), "another target always gets a place");
}

#[test]
fn what_can_no_longer_be_sent_in_time_is_dropped() {
    let mut targets = targets(8, 512);
    push(&mut targets, 1, 0);
    let until = delivery(1, 0).lease_until;
    assert_eq!(targets.tidy(until), 0);
    assert_eq!(targets.tidy(Timestamp::from_millis(until.as_millis() + 1)), 1);
    assert!(begin(&mut targets).is_empty());
    push(&mut targets, 1, 1);
    assert_eq!(begin(&mut targets).len(), 1, "the target still gets its turn afterwards");
}

#[test]
fn among_many_targets_those_idle_longest_lose_their_connections() {
    let mut targets = targets(8, 512);
    let egress = Egress {
        policy: settings().policy,
        names: fixed(),
        tls: tls_config(&[]).unwrap(),
        user_agent: awc::http::header::HeaderValue::from_static("test"),
        timeout: Duration::from_secs(1),
        connections_max: 1,
    };
    // Its URL is not allowed, so that nothing is opened.
    let channel = Channel::open(&target(1, "", SECRET), &keyring(), &egress, None).unwrap();
    let channel = Rc::new(channel);
    let mut use_once = |target| {
        push(&mut targets, target, 0);
        for (id, place) in begin(&mut targets) {
            targets.remember(id, Rc::clone(&channel));
            targets.finished(id, &place, Heard::Answer, NOW);
        }
    };
    (0..600).for_each(|target| {
        use_once(0);
        use_once(target);
    });
    assert_eq!((targets.channels, targets.by_id.len()), (CHANNELS_MAX, 600));
    let is_open = |target| targets.channel(webhook_id(target)).is_some();
    assert!(is_open(0) && !is_open(1) && !is_open(88) && is_open(599));
    targets.tidy(Timestamp::from_millis(0));
    assert_eq!(targets.idle.len(), CHANNELS_MAX);
}
