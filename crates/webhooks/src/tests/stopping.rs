//! Starting, running dry of room, and stopping in order.

use std::{
    net::TcpListener,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{
    AttemptResult, Clock as _, DeliveryId, LeaseToken, LeasedDelivery, Outcome, Timestamp,
    WebhookId,
    ports::{Claim, Dispatch as _, ExpeditedDelivery, Outbox, StoreError},
};

use super::{
    outbox::{MemoryOutbox, NOW, delivery_to},
    receiver::{Answer, OK, Receiver},
    rig::{Rig, SECRET, TestClock, keyring, settings, target},
};
use crate::{DispatchError, Dispatcher, Settings};

#[test]
fn stopping_gives_back_what_is_queued_and_what_does_not_finish() {
    let hanging = Receiver::start(|_| Answer::Hang);
    let rig = Rig::start(settings());
    let target = target(1, &hanging.url(), SECRET);
    let ids: Vec<_> = (0..30).map(|envelope| rig.submit(&target, envelope)).collect();
    rig.dispatcher.stop();
    for id in ids {
        let row = rig.outbox.row(id);
        assert!(row.held.is_none() && row.due_at == NOW && row.delivery.attempts == 0);
    }
    assert!(!rig.dispatcher.is_alive());
    rig.dispatcher.stop();
}

/// The lane has taken them all, and has told the database of none.
#[test]
fn stopping_gives_back_what_is_postponed_to_its_own_time() {
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = target(1, &format!("http://{refusing}/"), SECRET);
    let rig = Rig::start(settings());
    rig.submit_all(&target, 0..5);
    rig.outbox.wait_for_settled(5);
    let ids = rig.submit_all(&target, 5..100);
    rig.dispatcher.stop();
    for id in ids {
        let row = rig.outbox.row(id);
        assert_eq!((row.held, row.released, row.delivery.attempts), (None, 1, 0));
        assert!(row.due_at >= NOW.plus(Duration::from_secs(5)));
    }
    let stats = rig.dispatcher.stats();
    assert_eq!((stats.postponed, stats.queued, stats.in_flight), (95, 0, 0));
}

/// This node stood still for longer than its lease, and another has taken the delivery over.
#[test]
fn an_outcome_that_comes_after_the_lease_overwrites_nothing() {
    let (receiver, arrival, go) = Receiver::gated();
    let sweep_every = Duration::from_hours(1);
    let rig = Rig::start(Settings { sweep_every, ..settings() });
    let target = target(1, &receiver.url(), SECRET);
    let id = rig.submit(&target, 0);
    arrival.recv().unwrap();
    rig.clock.advance(Duration::from_mins(1));
    let (now, lease) = (rig.clock.now(), LeaseToken(42));
    let lease_until = now.plus(Duration::from_secs(45));
    let claim = Claim { now, limit: 10, per_target_max: 10, lease, lease_until };
    assert_eq!(rig.outbox.claim(&claim).unwrap().len(), 1);
    go.send(()).unwrap();
    // Something that is settled later, so that the first outcome must have been written or not by then.
    rig.submit(&target, 1);
    arrival.recv().unwrap();
    go.send(()).unwrap();
    let settled = rig.outbox.wait_for_settled(1);
    assert_ne!(settled[0].id, id);
    let row = rig.outbox.row(id);
    assert_eq!((row.held, row.is_over), (Some((lease, lease_until)), false));
    rig.dispatcher.stop();
    assert_eq!(rig.outbox.row(id).held, Some((lease, lease_until)));
}

#[test]
fn what_is_under_way_finishes_and_is_settled() {
    let (receiver, arrival, go) = Receiver::gated();
    let drain = Duration::from_secs(20);
    let rig = Rig::start(Settings { drain, in_flight_per_target: 1, ..settings() });
    let target = target(1, &receiver.url(), SECRET);
    let [first, second] = [0, 1].map(|envelope| rig.submit(&target, envelope));
    arrival.recv().unwrap();
    thread::scope(|scope| {
        let stopping = scope.spawn(|| rig.dispatcher.stop());
        while rig.dispatcher.is_alive() {
            thread::yield_now();
        }
        go.send(()).unwrap();
        stopping.join().unwrap();
    });
    assert_eq!(rig.outbox.wait_for_settled(1)[0].outcome, Outcome::Succeeded);
    assert!(rig.outbox.row(first).is_over);
    assert!(rig.outbox.row(second).held.is_none());
    assert_eq!(receiver.requests().len(), 1, "nothing new is begun");
}

#[test]
fn after_stopping_nothing_is_taken() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start(settings());
    let room = rig.dispatcher.capacity();
    rig.dispatcher.stop();
    rig.submit(&target(1, &receiver.url(), SECRET), 0);
    assert_eq!(rig.dispatcher.capacity(), room);
    assert!(receiver.requests().is_empty());
}

#[test]
fn room_shrinks_by_what_is_held_and_comes_back() {
    let hanging = Receiver::start(|_| Answer::Hang);
    let rig = Rig::start(Settings { queue_max: 10, ..settings() });
    assert_eq!(rig.dispatcher.capacity(), 10);
    let target = target(1, &hanging.url(), SECRET);
    let claims = rig.outbox.wait_until(|state| Some(state.claims));
    for envelope in 0..4 {
        rig.submit(&target, envelope);
    }
    assert_eq!(rig.dispatcher.capacity(), 6);
    rig.outbox.wait_until(|state| (state.claims > claims).then_some(()));
    assert_eq!(rig.dispatcher.capacity(), 6);
    assert!(rig.dispatcher.is_alive());
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

/// A database whose driver panics: at claims, or else when outcomes are written down.
struct Broken {
    claims: bool,
}

impl Outbox for Broken {
    fn claim(&self, _: &Claim) -> Result<Vec<LeasedDelivery>, StoreError> {
        assert!(!self.claims, "as the test wants it");
        Ok(Vec::new())
    }

    fn settle(&self, _: &[AttemptResult], _: Duration) -> Result<(), StoreError> {
        panic!("as the test wants it")
    }

    fn release(&self, _: &[(DeliveryId, LeaseToken)], _: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    fn expedite(&self, _: &[ExpeditedDelivery]) -> Result<(), StoreError> {
        Ok(())
    }

    fn no_longer_enabled(&self, _: &[WebhookId]) -> Result<Vec<WebhookId>, StoreError> {
        Ok(Vec::new())
    }
}

/// A thread ends a moment after its panic is told.
#[track_caller]
fn await_break_down(dispatcher: &Dispatcher) {
    let until = Instant::now() + Duration::from_secs(20);
    while !dispatcher.is_broken() {
        assert!(Instant::now() < until, "it is whole");
        thread::yield_now();
    }
    assert!(!dispatcher.is_alive());
    assert_eq!(dispatcher.capacity(), 0, "others are to take what comes");
}

#[test]
fn a_sweeper_that_breaks_down_is_noticed() {
    let (clock, broken) = (Arc::new(TestClock::default()), Broken { claims: true });
    let dispatcher =
        Dispatcher::start(settings(), Arc::new(broken), keyring(), clock, None).unwrap();
    await_break_down(&dispatcher);
    dispatcher.stop();
}

#[test]
fn a_thread_that_sends_and_breaks_down_is_noticed() {
    let rig = Rig::start_with(settings(), Arc::default(), || panic!("as the test wants it"));
    await_break_down(&rig.dispatcher);
}

#[test]
fn a_settler_that_breaks_down_is_noticed() {
    let receiver = Receiver::start(|_| OK);
    let sweep_every = Duration::from_hours(1);
    let outbox = Arc::new(Broken { claims: false });
    let clock = Arc::new(TestClock::default());
    let settings = Settings { sweep_every, ..settings() };
    let dispatcher = Dispatcher::start(settings, outbox, keyring(), clock, None).unwrap();
    let (lease, lease_until) = dispatcher.lease();
    let to = target(1, &receiver.url(), SECRET);
    dispatcher.submit(vec![LeasedDelivery { lease, lease_until, ..delivery_to(to, 0) }]);
    await_break_down(&dispatcher);
}

#[test]
fn one_that_was_stopped_is_not_broken() {
    let rig = Rig::start(settings());
    rig.dispatcher.stop();
    assert_eq!((rig.dispatcher.is_alive(), rig.dispatcher.is_broken()), (false, false));
}

#[test]
fn lease_tokens_are_fresh_and_end_when_they_should() {
    let rig = Rig::start(settings());
    let (first, until) = rig.dispatcher.lease();
    let (second, _) = rig.dispatcher.lease();
    assert_ne!(first, second);
    assert_eq!(until, NOW.plus(Duration::from_secs(45)));
}
