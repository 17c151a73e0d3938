//! Tests of attempts and of their recorded outcomes.

use std::{collections::HashMap, sync::Arc, time::Duration};

use sealpost_domain::{AttemptFailure, DeliveryId, Outcome, ports::Dispatch as _};

use super::{
    fixture::{Fixture, SECRET, endless, settings, target},
    memory_outbox::{MemoryOutbox, NOW, Row, delivery_to},
    signatures::verifies,
    test_receiver::{OK, Receiver, Reply},
};
use crate::Settings;

const OTHER_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[test]
fn a_delivery_is_sent_and_its_outcome_recorded() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start(settings());
    let id = fixture.submit(&target(1, &receiver.url(), SECRET), 7);

    let results = fixture.outbox.wait_for_results(1);
    assert_eq!(results[0].id, id);
    assert_eq!((results[0].attempts, results[0].outcome), (1, Outcome::Succeeded));

    let request = receiver.requests().remove(0);
    assert_eq!(request.head, "POST /hook HTTP/1.1");
    assert!(verifies(SECRET, &request));
    let header = |name: &str| request.headers[name].as_str();
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(header("webhook-id"), id.event_id.to_string());
    assert_eq!(header("webhook-timestamp"), "1767225600");
    assert_eq!(header("x-service-signature"), header("webhook-signature"));
    assert!(header("user-agent").starts_with("Sealpost/"));
    let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body["envelope_id"], id.event_id.to_string());
}

#[test]
fn a_failed_delivery_is_retried_by_the_schedule_and_keeps_its_id() {
    let receiver = Receiver::start(|_| {
        Reply::Bytes(b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n")
    });
    let schedule = "5s,1h".parse().unwrap();
    let fixture = Fixture::start(Settings { schedule, ..settings() });
    let id = fixture.submit(&target(1, &receiver.url(), SECRET), 0);

    let first = fixture.outbox.wait_for_results(1)[0].clone();
    let Outcome::Retry { failure: AttemptFailure::HttpStatus(500), due_at } = first.outcome else {
        panic!("{:?}", first.outcome)
    };
    let pause = due_at.since(NOW);
    assert!((Duration::from_secs(5)..=Duration::from_secs(6)).contains(&pause), "{pause:?}");

    fixture.clock.advance(Duration::from_secs(6));
    let second = fixture.outbox.wait_for_results(2)[1].clone();
    assert_eq!(second.attempts, 2);
    let requests = receiver.requests();
    assert_eq!(requests[0].headers["webhook-id"], requests[1].headers["webhook-id"]);
    assert_eq!(requests[1].headers["webhook-timestamp"], "1767225606");
    assert_ne!(requests[0].headers["webhook-signature"], requests[1].headers["webhook-signature"]);

    fixture.clock.advance(Duration::from_mins(72));
    let last = fixture.outbox.wait_for_results(3)[2].clone();
    assert_eq!(last.outcome, Outcome::Exhausted(AttemptFailure::HttpStatus(500)));
    assert!(fixture.outbox.row(id).is_over);
}

#[test]
fn due_deliveries_are_claimed_without_a_pause() {
    let receiver = Receiver::start(|_| OK);
    let outbox = Arc::new(MemoryOutbox::default());
    let target = target(1, &receiver.url(), SECRET);
    for envelope in 0..20 {
        outbox.insert(&delivery_to(Arc::clone(&target), envelope), false);
    }
    let sweep_every = Duration::from_hours(1);
    let fixture = Fixture::start_on(Settings { claim_max: 4, sweep_every, ..settings() }, outbox);
    fixture.outbox.wait_for_results(20);
}

/// The test clock does not advance, so no lease ends. The deliveries must be sent nevertheless.
#[test]
fn no_delivery_of_a_backlog_beyond_capacity_waits_for_its_lease() {
    let receiver = Receiver::start(|_| OK);
    let outbox = Arc::new(MemoryOutbox::default());
    for number in 0..8 {
        let target = target(number, &receiver.url(), SECRET);
        for envelope in 0..60 {
            let envelope = u32::from(number) * 100 + envelope;
            outbox.insert(&delivery_to(Arc::clone(&target), envelope), false);
        }
    }
    let settings = Settings { claim_max: 16, queue_max: 64, in_flight_per_target: 1, ..settings() };
    let fixture = Fixture::start_on(settings, outbox);
    fixture.outbox.wait_for_results(480);
}

/// The test clock does not advance, so no lease ends. The deliveries must be sent nevertheless.
#[test]
fn a_burst_to_one_receiver_beyond_capacity_is_sent_when_the_receiver_keeps_up() {
    let (receiver, arrival, go) = Receiver::gated();
    let target = target(1, &receiver.url(), SECRET);
    let settings = Settings { claim_max: 16, queue_max: 256, ..endless() };
    let fixture = Fixture::start(settings);
    fixture.submit_all(&target, 0..1000);
    arrival.recv().unwrap();
    fixture.outbox.wait_until(|state| {
        let released = state.rows.values().filter(|row| row.released == 1).count();
        (released > 700).then_some(())
    });
    let claims = || {
        let sum = |rows: &HashMap<DeliveryId, Row>| rows.values().map(|row| row.claimed).sum();
        fixture.outbox.wait_until(|state| Some((state.claims, sum(&state.rows))))
    };
    let is_claiming_nothing = |_| {
        let (count, claimed): (usize, usize) = claims();
        fixture.outbox.wait_until(|state| (state.claims > count + 5).then_some(()));
        claims().1 == claimed
    };
    assert!((0..50).any(is_claiming_nothing), "claims stop while the memory has no room");
    (0..1000).for_each(|_| go.send(()).unwrap());
    fixture.outbox.wait_for_results(1000);
}

#[test]
fn deliveries_of_a_dead_node_are_claimed_when_their_lease_has_ended() {
    let receiver = Receiver::start(|_| OK);
    let outbox = Arc::new(MemoryOutbox::default());
    outbox.insert(&delivery_to(target(1, &receiver.url(), SECRET), 0), true);
    let fixture = Fixture::start_on(settings(), outbox);
    let claims = fixture.outbox.wait_until(|state| (state.claims > 1).then_some(state.claims));
    assert!(receiver.requests().is_empty());

    fixture.clock.advance(Duration::from_secs(45));
    fixture.outbox.wait_until(|state| (state.claims > claims).then_some(()));
    fixture.outbox.wait_for_results(1);
}

#[test]
fn nothing_is_sent_with_too_little_lease_left() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start(settings());
    let capacity = fixture.dispatcher.capacity();
    let mut late = delivery_to(target(1, &receiver.url(), SECRET), 0);
    late.lease_until = NOW.plus(Duration::from_secs(14));
    fixture.dispatcher.submit(vec![late]);
    fixture.submit(&target(1, &receiver.url(), SECRET), 1);

    let results = fixture.outbox.wait_for_results(1);
    assert_eq!(results[0].id.event_id, delivery_to(target(1, "", SECRET), 1).event.id());
    assert_eq!(receiver.requests().len(), 1);
    fixture.dispatcher.stop();
    assert_eq!(fixture.dispatcher.capacity(), capacity);
}

#[test]
fn a_changed_secret_is_used() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start(settings());
    for (index, secret) in [SECRET, OTHER_SECRET, SECRET].into_iter().enumerate() {
        fixture.submit(&target(1, &receiver.url(), secret), u32::try_from(index).unwrap());
        fixture.outbox.wait_for_results(index + 1);
        assert!(verifies(secret, &receiver.requests()[index]));
    }
}

#[test]
fn an_outcome_survives_a_short_outage_of_the_database() {
    let receiver = Receiver::start(|_| OK);
    let sweep_every = Duration::from_hours(1);
    let fixture = Fixture::start(Settings { sweep_every, ..settings() });
    fixture.outbox.wait_until(|state| (state.claims > 0).then_some(()));
    fixture.outbox.fail(3);
    fixture.submit(&target(1, &receiver.url(), SECRET), 0);
    assert_eq!(fixture.outbox.wait_for_results(1)[0].outcome, Outcome::Succeeded);
    assert_eq!(receiver.requests().len(), 1);
}
