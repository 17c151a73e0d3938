//! Tests of the dispatcher: start, full capacity, orderly shutdown, and threads that panic.

use std::{
    net::TcpListener,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{
    Clock as _, LeaseToken, Outcome,
    ports::{Claim, Dispatch as _, Outbox as _},
};

use super::{
    fixture::{Fixture, SECRET, TestClock, keyring, settings, target},
    memory_outbox::{BrokenCall, MemoryOutbox, NOW},
    test_receiver::{OK, Receiver, Reply},
};
use crate::{DispatchError, Dispatcher, Settings};

#[test]
fn a_shutdown_releases_queued_deliveries_and_unfinished_attempts() {
    let hanging = Receiver::start(|_| Reply::Hang);
    let fixture = Fixture::start(settings());
    let target = target(1, &hanging.url(), SECRET);
    let ids: Vec<_> = (0..30).map(|envelope| fixture.submit(&target, envelope)).collect();
    fixture.dispatcher.stop();
    for id in ids {
        let row = fixture.outbox.row(id);
        assert!(row.held.is_none() && row.due_at == NOW && row.delivery.attempts == 0);
    }
    assert_eq!((fixture.dispatcher.is_alive(), fixture.dispatcher.is_broken()), (false, false));
    fixture.dispatcher.stop();
}

/// The dispatcher stops after it has accepted the deliveries, and possibly before it has released them.
#[test]
fn a_shutdown_releases_deferred_deliveries_to_their_due_times() {
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = target(1, &format!("http://{refusing}/"), SECRET);
    let fixture = Fixture::start(settings());
    fixture.submit_all(&target, 0..5);
    fixture.outbox.wait_for_results(5);
    let ids = fixture.submit_all(&target, 5..100);
    fixture.dispatcher.stop();
    for id in ids {
        let row = fixture.outbox.row(id);
        assert_eq!((row.held, row.released, row.delivery.attempts), (None, 1, 0));
        assert!(row.due_at >= NOW.plus(Duration::from_secs(5)));
    }
    let stats = fixture.dispatcher.stats();
    assert_eq!((stats.deferred, stats.queued, stats.in_flight), (95, 0, 0));
}

/// During the attempt, the lease of this node ends, and another node claims the delivery. The late outcome of this node
/// must be ignored.
#[test]
fn an_outcome_that_comes_after_the_lease_overwrites_nothing() {
    let (receiver, arrival, go) = Receiver::gated();
    let sweep_every = Duration::from_hours(1);
    let fixture = Fixture::start(Settings { sweep_every, ..settings() });
    let target = target(1, &receiver.url(), SECRET);
    let id = fixture.submit(&target, 0);
    arrival.recv().unwrap();
    fixture.clock.advance(Duration::from_mins(1));
    let (now, lease) = (fixture.clock.now(), LeaseToken(42));
    let lease_until = now.plus(Duration::from_secs(45));
    let claim =
        Claim { now, oldest: NOW, limit: 10, per_target_max: 10, full: vec![], lease, lease_until };
    assert_eq!(fixture.outbox.claim(&claim).unwrap().len(), 1);
    go.send(()).unwrap();
    // Waits until a later outcome is recorded. By then, the first outcome was recorded or rejected.
    fixture.submit(&target, 1);
    arrival.recv().unwrap();
    go.send(()).unwrap();
    let results = fixture.outbox.wait_for_results(1);
    assert_ne!(results[0].id, id);
    let row = fixture.outbox.row(id);
    assert_eq!((row.held, row.is_over), (Some((lease, lease_until)), false));
    fixture.dispatcher.stop();
    assert_eq!(fixture.outbox.row(id).held, Some((lease, lease_until)));
}

#[test]
fn attempts_in_flight_finish_and_are_recorded() {
    let (receiver, arrival, go) = Receiver::gated();
    let drain = Duration::from_secs(20);
    let fixture = Fixture::start(Settings { drain, in_flight_per_target: 1, ..settings() });
    let target = target(1, &receiver.url(), SECRET);
    let [first, second] = [0, 1].map(|envelope| fixture.submit(&target, envelope));
    arrival.recv().unwrap();
    thread::scope(|scope| {
        let stopping = scope.spawn(|| fixture.dispatcher.stop());
        while fixture.dispatcher.is_alive() {
            thread::yield_now();
        }
        go.send(()).unwrap();
        stopping.join().unwrap();
    });
    assert_eq!(fixture.outbox.wait_for_results(1)[0].outcome, Outcome::Succeeded);
    assert!(fixture.outbox.row(first).is_over);
    assert!(fixture.outbox.row(second).held.is_none());
    assert_eq!(receiver.requests().len(), 1, "no new attempt starts");
}

#[test]
fn after_a_shutdown_no_delivery_is_accepted() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start(settings());
    let capacity = fixture.dispatcher.capacity();
    fixture.dispatcher.stop();
    fixture.submit(&target(1, &receiver.url(), SECRET), 0);
    assert_eq!(fixture.dispatcher.capacity(), capacity);
    assert!(receiver.requests().is_empty());
}

#[test]
fn capacity_shrinks_by_the_deliveries_in_memory() {
    let hanging = Receiver::start(|_| Reply::Hang);
    let fixture = Fixture::start(Settings { queue_max: 10, ..settings() });
    assert_eq!(fixture.dispatcher.capacity(), 10);
    let target = target(1, &hanging.url(), SECRET);
    let claims = fixture.outbox.wait_until(|state| Some(state.claims));
    for envelope in 0..4 {
        fixture.submit(&target, envelope);
    }
    assert_eq!(fixture.dispatcher.capacity(), 6);
    fixture.outbox.wait_until(|state| (state.claims > claims).then_some(()));
    assert_eq!(fixture.dispatcher.capacity(), 6);
    assert!(fixture.dispatcher.is_alive());
}

#[test]
fn a_lease_shorter_than_an_attempt_is_refused() {
    let lease = Duration::from_secs(15);
    let outbox = Arc::new(MemoryOutbox::default());
    let clock = Arc::new(TestClock::default());
    let refused =
        Dispatcher::start(Settings { lease, ..settings() }, outbox, keyring(), clock, None);
    assert!(matches!(refused, Err(DispatchError::LeaseTooShort)));
}

/// Waits until the dispatcher reports a crashed thread. A thread ends a moment after the message of its panic.
#[track_caller]
fn wait_until_broken(dispatcher: &Dispatcher) {
    let until = Instant::now() + Duration::from_secs(20);
    while !dispatcher.is_broken() {
        assert!(Instant::now() < until, "all threads run");
        thread::yield_now();
    }
    assert!(!dispatcher.is_alive());
    assert_eq!(dispatcher.capacity(), 0, "other nodes take over");
}

#[test]
fn a_panic_of_the_sweeper_is_detected() {
    let fixture = Fixture::start_on(settings(), MemoryOutbox::broken(BrokenCall::Claim));
    wait_until_broken(&fixture.dispatcher);
    fixture.dispatcher.stop();
}

#[test]
fn a_panic_of_a_delivery_worker_is_detected() {
    let fixture = Fixture::start_with(|it| it.new_resolver = || panic!("intended by the test"));
    wait_until_broken(&fixture.dispatcher);
}

#[test]
fn a_panic_of_the_outcome_writer_is_detected() {
    let receiver = Receiver::start(|_| OK);
    let sweep_every = Duration::from_hours(1);
    let outbox = MemoryOutbox::broken(BrokenCall::RecordOutcomes);
    let fixture = Fixture::start_on(Settings { sweep_every, ..settings() }, outbox);
    fixture.submit(&target(1, &receiver.url(), SECRET), 0);
    wait_until_broken(&fixture.dispatcher);
}
