//! Tests with webhooks that are deleted or disabled while their deliveries are queued on this node.

use std::{
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::ports::Dispatch as _;

use super::{
    fixture::{Fixture, SECRET, settings, target},
    memory_outbox::NOW,
    test_receiver::{OK, Receiver, Reply},
};
use crate::Settings;

/// Age from which the target of queued deliveries is read again.
const REFRESH_AGE: Duration = Duration::from_millis(500);

/// Waits until the dispatcher has `count` deliveries in memory.
fn wait_for_held(fixture: &Fixture, count: usize) {
    let until = Instant::now() + Duration::from_secs(20);
    while fixture.dispatcher.held() != count {
        assert!(Instant::now() < until, "{} are held", fixture.dispatcher.held());
        thread::yield_now();
    }
}

#[test]
fn queued_deliveries_of_a_deleted_webhook_are_dropped() {
    let ((slow, arrival, go), hanging) = (Receiver::gated(), Receiver::start(|_| Reply::Hang));
    let (gone, stays) = (target(1, &slow.url(), SECRET), target(2, &hanging.url(), SECRET));
    let fixture = Fixture::start(Settings { timeout: Duration::from_secs(30), ..settings() });
    let capacity = fixture.dispatcher.capacity();
    let left = fixture.submit_all(&stays, 0..5);
    fixture.submit_all(&gone, 10..40);
    arrival.recv().unwrap();
    fixture.outbox.delete(gone.webhook_id);
    fixture.clock.advance(REFRESH_AGE);
    // In memory are the attempt in flight and the five deliveries of the other webhook.
    wait_for_held(&fixture, 1 + 5);
    go.send(()).unwrap();
    wait_for_held(&fixture, 5);
    assert_eq!((slow.requests().len(), fixture.dispatcher.capacity()), (1, capacity - 5));
    assert!(left.iter().all(|id| fixture.outbox.row(*id).released == 0));
}

#[test]
fn expired_deliveries_are_released_without_an_attempt() {
    let receiver = Receiver::start(|_| OK);
    let target = target(1, &receiver.url(), SECRET);
    let fixture = Fixture::start(settings());
    fixture.clock.advance(settings().retention);
    let sent = fixture.submit(&target, 1);
    fixture.outbox.wait_for_results(1);
    fixture.clock.advance(Duration::from_secs(1));
    let expired = fixture.submit(&target, 2);
    fixture.outbox.wait_until(|state| (state.rows[&expired].released > 0).then_some(()));
    assert_eq!((fixture.outbox.row(sent).released, receiver.requests().len()), (0, 1));
}

#[test]
fn queued_deliveries_of_a_disabled_webhook_are_released_without_an_attempt() {
    let (slow, arrival, go) = Receiver::gated();
    let target = target(1, &slow.url(), SECRET);
    let fixture = Fixture::start(settings());
    let ids = fixture.submit_all(&target, 0..30);
    arrival.recv().unwrap();
    fixture.outbox.disable(target.webhook_id);
    fixture.clock.advance(REFRESH_AGE);
    wait_for_held(&fixture, 1);
    go.send(()).unwrap();
    let results = fixture.outbox.wait_for_results(1).remove(0);
    for id in ids.into_iter().filter(|id| *id != results.id) {
        let row = fixture.outbox.row(id);
        assert_eq!((row.held, row.released, row.due_at), (None, 1, NOW.plus(REFRESH_AGE)));
        assert_eq!((row.delivery.attempts, row.claimed), (0, 0));
    }
    assert_eq!(slow.requests().len(), 1);
}

#[test]
fn the_query_is_repeated_after_an_outage_of_the_database() {
    let (slow, arrival, _go) = Receiver::gated();
    let target = target(1, &slow.url(), SECRET);
    let fixture = Fixture::start(settings());
    fixture.submit_all(&target, 0..30);
    arrival.recv().unwrap();
    fixture.outbox.delete(target.webhook_id);
    // The outage is long enough that the first query for targets fails too.
    fixture.outbox.fail(150);
    fixture.clock.advance(REFRESH_AGE);
    wait_for_held(&fixture, 1);
}

#[test]
fn without_queued_deliveries_nothing_is_queried() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start(settings());
    fixture.submit(&target(1, &receiver.url(), SECRET), 0);
    fixture.outbox.wait_for_results(1);
    let queries = fixture.outbox.wait_until(|state| (state.claims > 75).then_some(state.queries));
    assert_eq!(queries, 0);
}
