//! Tests of deliveries to relays: receivers that open connections to the service.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
};

use sealpost_domain::{
    DeliveryId, Outcome, OwnEventId, RELAY_URL, Target, TestEvent, TestResult,
    ports::{
        Dispatch as _, RelayAnswer, RelayConnectionId, RelayEnd, RelayFrame, RelayMessage, Relays,
    },
};

use super::{
    fixture::{Fixture, SECRET, settings, target},
    memory_outbox::{MemoryOutbox, NOW, account_of, webhook_id},
};

/// The receiving side of a connection.
struct Connection {
    id: RelayConnectionId,
    frames: Receiver<RelayFrame>,
    ends: Receiver<RelayEnd>,
}

fn connect(relays: &dyn Relays, id: i64, to: u16) -> Connection {
    let ((frames, received), (ends, ended)) = (channel(), channel());
    let id = RelayConnectionId(id);
    // Ignores an error: a test that has ended no longer receives messages.
    let link = move |message| match message {
        RelayMessage::Close(end) => ends.send(end).unwrap_or_default(),
        RelayMessage::Delivery(frame) => frames.send(*frame).unwrap_or_default(),
    };
    assert!(relays.attach(id, webhook_id(to), account_of(to), Box::new(link)));
    Connection { id, frames: received, ends: ended }
}

impl Connection {
    fn answer(&self, relays: &dyn Relays, frame: &RelayFrame, status: u16) -> bool {
        let status = Some(status);
        let answer =
            RelayAnswer { delivery: frame.delivery, status, retry_after: None, body: None };
        relays.answer(self.id, answer)
    }
}

fn relay() -> Arc<Target> {
    target(1, RELAY_URL, SECRET)
}

/// Sends a test event to the relay. Returns the channel that gets the result.
fn send_test(fixture: &Fixture, number: u8) -> Receiver<TestResult> {
    let (sender, result) = channel();
    let id = OwnEventId::new(NOW, [number; 10]);
    let event = TestEvent { id, target: relay(), timestamp: NOW };
    let finish = move |result: TestResult| sender.send(result).unwrap_or_default();
    assert!(fixture.dispatcher.test(event, Box::new(finish)));
    result
}

#[test]
fn a_delivery_goes_to_the_connection_and_its_answer_is_recorded() {
    let fixture = Fixture::start(settings());
    let relays = fixture.dispatcher.relays();
    let connection = connect(relays, 1, 1);
    let id = fixture.submit(&relay(), 0);
    let frame = connection.frames.recv().unwrap();
    let names: Vec<_> = frame.headers.iter().map(|(name, _)| &**name).collect();
    let expected = [
        "content-type",
        "webhook-id",
        "webhook-timestamp",
        "x-service-signature",
        "webhook-signature",
    ];
    assert_eq!(names, expected);
    assert!(connection.answer(relays, &frame, 204));
    assert!(!connection.answer(relays, &frame, 204), "a second answer is ignored");
    let results = fixture.outbox.wait_for_results(1);
    assert_eq!((results[0].id, results[0].outcome), (id, Outcome::Succeeded));
}

#[test]
fn a_delivery_without_a_connection_waits_and_counts_no_attempt() {
    let fixture = Fixture::start(settings());
    let id = fixture.submit(&relay(), 0);
    let waits = |id| {
        fixture.outbox.wait_until(|state| state.rows[&id].awaits_relay.then_some(()));
    };
    waits(id);
    let relays = fixture.dispatcher.relays();
    let first = connect(relays, 1, 1);
    drop(first.frames.recv().unwrap());
    relays.detach(first.id);
    waits(id);
    assert_eq!(fixture.outbox.row(id).delivery.attempts, 0);
    let second = connect(relays, 2, 1);
    let frame = second.frames.recv().unwrap();
    second.answer(relays, &frame, 200);
    assert_eq!(fixture.outbox.wait_for_results(1)[0].attempts, 1);
}

#[test]
fn a_later_connection_gets_unanswered_deliveries_in_the_same_order() {
    let fixture = Fixture::start(settings());
    let relays = fixture.dispatcher.relays();
    let first = connect(relays, 1, 1);
    // The first answer makes the relay responsive, so that it gets many deliveries at once.
    fixture.submit(&relay(), 0);
    first.answer(relays, &first.frames.recv().unwrap(), 200);
    fixture.outbox.wait_for_results(1);
    let ids = fixture.submit_all(&relay(), 1..20);
    let sent: Vec<_> = ids.iter().map(|_| first.frames.recv().unwrap().body).collect();
    relays.detach(first.id);
    fixture
        .outbox
        .wait_until(|state| ids.iter().all(|id| state.rows[id].awaits_relay).then_some(()));
    let second = connect(relays, 2, 1);
    let again: Vec<_> = ids.iter().map(|_| second.frames.recv().unwrap().body).collect();
    assert_eq!(again, sent);
}

/// Opens the circuit breaker of the relay, whose receiver does not respond. Returns the connection and a deferred
/// delivery.
fn hang(fixture: &Fixture) -> (Connection, DeliveryId) {
    let relays = fixture.dispatcher.relays();
    // The first delivery waits for the connection, so it arrives after the worker has reset the circuit breaker.
    let waiting = fixture.submit(&relay(), 0);
    fixture.outbox.wait_until(|state| state.rows[&waiting].awaits_relay.then_some(()));
    let connection = connect(relays, 1, 1);
    for envelope in 0..5 {
        if envelope > 0 {
            fixture.submit(&relay(), envelope);
        }
        let delivery = connection.frames.recv().unwrap().delivery;
        // An answer without a status counts as no response. Five of them open the circuit breaker.
        let answer = RelayAnswer { delivery, status: None, retry_after: None, body: None };
        assert!(relays.answer(connection.id, answer));
        fixture.outbox.wait_for_results(usize::try_from(envelope).unwrap() + 1);
    }
    let id = fixture.submit(&relay(), 5);
    fixture.outbox.wait_until(|state| (state.rows[&id].released == 1).then_some(()));
    (connection, id)
}

/// Answers the next `count` deliveries, and returns the ids of their events.
fn answer_next(connection: &Connection, relays: &dyn Relays, count: usize) -> HashSet<String> {
    let next = |_| {
        let frame = connection.frames.recv_timeout(PATIENCE).unwrap();
        assert!(connection.answer(relays, &frame, 200));
        frame.headers.into_iter().find(|(name, _)| name == "webhook-id").unwrap().1
    };
    (0..count).map(next).collect()
}

#[test]
fn a_relay_that_connects_again_gets_its_deferred_deliveries_at_once() {
    let fixture = Fixture::start(settings());
    let relays = fixture.dispatcher.relays();
    let (first, id) = hang(&fixture);
    relays.detach(first.id);
    let second = connect(relays, 2, 1);
    assert_eq!(answer_next(&second, relays, 1), HashSet::from([id.event_id.to_string()]));
    fixture.outbox.wait_for_results(6);
}

#[test]
fn a_relay_that_connects_to_another_node_gets_its_deferred_deliveries_at_once() {
    let outbox = Arc::<MemoryOutbox>::default();
    let [one, other] = [(); 2].map(|()| Fixture::start_on(settings(), Arc::clone(&outbox)));
    let (hung, deferred) = hang(&one);
    one.dispatcher.relays().detach(hung.id);
    let relays = other.dispatcher.relays();
    let connection = connect(relays, 2, 1);
    // The circuit breaker of the first node does not defer later deliveries either.
    let later = one.submit(&relay(), 6);
    let expected = [deferred, later].map(|id| id.event_id.to_string());
    assert_eq!(answer_next(&connection, relays, 2), HashSet::from(expected));
    outbox.wait_for_results(7);
}

#[test]
fn test_events_do_not_count_as_unanswered_deliveries() {
    let fixture = Fixture::start(settings());
    let relays = fixture.dispatcher.relays();
    let connection = connect(relays, 1, 1);
    // The first answer makes the relay responsive, so that it gets many deliveries at once.
    fixture.submit(&relay(), 0);
    connection.answer(relays, &connection.frames.recv().unwrap(), 200);
    fixture.outbox.wait_for_results(1);
    let results: Vec<_> = (1..=16).map(|number| send_test(&fixture, number)).collect();
    let tests: Vec<_> = results.iter().map(|_| connection.frames.recv().unwrap()).collect();
    fixture.submit_all(&relay(), 1..33);
    let next = || connection.frames.recv_timeout(PATIENCE).unwrap();
    let deliveries: Vec<_> = (1..33).map(|_| next()).collect();
    for (frame, result) in tests.iter().zip(&results) {
        assert!(connection.answer(relays, frame, 200));
        assert_eq!(result.recv().unwrap().result, Ok(()));
    }
    let result = send_test(&fixture, 17);
    assert!(connection.answer(relays, &next(), 200));
    assert_eq!(result.recv().unwrap().result, Ok(()), "32 deliveries are unanswered");
    for frame in &deliveries {
        assert!(connection.answer(relays, frame, 200));
    }
    fixture.outbox.wait_for_results(33);
}

#[test]
fn a_second_connection_takes_over_at_once() {
    let fixture = Fixture::start(settings());
    let relays = fixture.dispatcher.relays();
    let (first, second) = (connect(relays, 1, 1), connect(relays, 2, 1));
    let id = fixture.submit(&relay(), 0);
    let (taken, other) = match first.frames.recv_timeout(PAUSE) {
        Ok(_) => (&first, &second),
        Err(_) => (&second, &first),
    };
    relays.detach(taken.id);
    let frame = other.frames.recv().unwrap();
    other.answer(relays, &frame, 200);
    let result = fixture.outbox.wait_for_results(1).remove(0);
    assert_eq!((result.id, result.attempts), (id, 1));
    assert_eq!(fixture.outbox.row(id).released, 0, "the delivery stays in memory");
}

#[test]
fn a_stop_closes_all_connections_and_keeps_the_deliveries() {
    let fixture = Fixture::start(settings());
    let relays = fixture.dispatcher.relays();
    let connection = connect(relays, 1, 1);
    let id = fixture.submit(&relay(), 0);
    drop(connection.frames.recv().unwrap());
    relays.stop();
    assert_eq!(connection.ends.recv().unwrap(), RelayEnd::Stopping);
    assert!(!relays.attach(RelayConnectionId(2), webhook_id(1), account_of(1), Box::new(drop)));
    relays.detach(connection.id);
    fixture.dispatcher.stop();
    let row = fixture.outbox.row(id);
    assert!(row.held.is_none() && !row.is_over && row.delivery.attempts == 0);
}

#[test]
fn a_connection_of_the_busiest_account_yields() {
    let fixture = Fixture::start(settings());
    let relays = fixture.dispatcher.relays();
    assert_eq!(relays.yielding(&account_of(1)), None, "there is no connection");
    connect(relays, 1, 1);
    connect(relays, 2, 1000);
    connect(relays, 3, 1000);
    assert_eq!(relays.yielding(&account_of(1)), None, "the other account would have fewer");
    let newcomer = relays.yielding(&account_of(2)).unwrap();
    assert_ne!(newcomer, RelayConnectionId(1));
    // Another webhook of the same account.
    connect(relays, 4, 1001);
    assert_ne!(relays.yielding(&account_of(1)).unwrap(), RelayConnectionId(1));
    assert_eq!(relays.yielding(&account_of(1000)), None, "the busiest account");
}

const PAUSE: std::time::Duration = std::time::Duration::from_millis(500);
/// Maximum time to wait for a frame.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);
