//! Webhooks that end elsewhere while their notices wait on this node.

use std::{
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::ports::Dispatch as _;

use super::{
    outbox::NOW,
    receiver::{Answer, OK, Receiver},
    rig::{Rig, SECRET, settings, target},
};
use crate::Settings;

/// Waits until so many are left in memory.
fn wait_for_held(rig: &Rig, count: usize) {
    let until = Instant::now() + Duration::from_secs(20);
    while rig.dispatcher.held() != count {
        assert!(Instant::now() < until, "{} are held", rig.dispatcher.held());
        thread::yield_now();
    }
}

#[test]
fn what_waits_for_a_webhook_that_was_deleted_is_dropped() {
    let ((slow, arrival, go), hanging) = (Receiver::gated(), Receiver::start(|_| Answer::Hang));
    let (gone, stays) = (target(1, &slow.url(), SECRET), target(2, &hanging.url(), SECRET));
    let rig = Rig::start(Settings { timeout: Duration::from_secs(30), ..settings() });
    let room = rig.dispatcher.capacity();
    let left = rig.submit_all(&stays, 0..5);
    rig.submit_all(&gone, 10..40);
    arrival.recv().unwrap();
    rig.outbox.delete(gone.webhook_id);
    // What is under way, and what is somebody else's.
    wait_for_held(&rig, 1 + 5);
    go.send(()).unwrap();
    wait_for_held(&rig, 5);
    assert_eq!((slow.requests().len(), rig.dispatcher.capacity()), (1, room - 5));
    assert!(left.iter().all(|id| rig.outbox.row(*id).released == 0));
}

#[test]
fn what_waits_for_a_webhook_that_was_disabled_goes_back_without_an_attempt() {
    let (slow, arrival, go) = Receiver::gated();
    let target = target(1, &slow.url(), SECRET);
    let rig = Rig::start(settings());
    let ids = rig.submit_all(&target, 0..30);
    arrival.recv().unwrap();
    rig.outbox.disable(target.webhook_id);
    wait_for_held(&rig, 1);
    go.send(()).unwrap();
    let settled = rig.outbox.wait_for_settled(1).remove(0);
    for id in ids.into_iter().filter(|id| *id != settled.id) {
        let row = rig.outbox.row(id);
        assert_eq!((row.held, row.released, row.due_at), (None, 1, NOW));
        assert_eq!((row.delivery.attempts, row.claimed), (0, 0));
    }
    assert_eq!(slow.requests().len(), 1);
}

#[test]
fn a_database_that_was_away_is_asked_again() {
    let (slow, arrival, _go) = Receiver::gated();
    let target = target(1, &slow.url(), SECRET);
    let rig = Rig::start(settings());
    rig.submit_all(&target, 0..30);
    arrival.recv().unwrap();
    rig.outbox.delete(target.webhook_id);
    // So often that the first question fails too.
    rig.outbox.fail(150);
    wait_for_held(&rig, 1);
}

#[test]
fn while_nothing_waits_nothing_is_asked() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start(settings());
    rig.submit(&target(1, &receiver.url(), SECRET), 0);
    rig.outbox.wait_for_settled(1);
    let asked = rig.outbox.wait_until(|state| (state.claims > 75).then_some(state.asked));
    assert_eq!(asked, 0);
}
