//! Tests that a wrong clock neither deletes recent rows nor locks out callers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sealpost_domain::{
    Clock as _, EnvelopeId, EventKind, EventsVersion, LeaseToken, Refusal, Timestamp,
};
use sealpost_service::{Credentials, Settings};

use crate::{
    client::Client,
    support::{World, announcing, key_of, refusal, wait_until, webhook_for},
};

#[tokio::test]
async fn a_clock_that_jumps_ahead_by_a_year_deletes_no_recent_rows() {
    let world = World::new();
    let (bob, sent) = deliver(&world).await;
    let node = Kept::on(&world);
    node.keep_house(3);
    world.clock.advance(YEAR);
    node.keep_house(20);
    world.clock.set_back(YEAR);
    check_opens(&world, &bob, sent);
    node.keep_house(3);
    check_opens(&world, &bob, sent);
}

#[tokio::test]
async fn a_node_that_starts_a_year_ahead_deletes_no_recent_rows() {
    let world = World::new();
    let (bob, sent) = deliver(&world).await;
    let node = Kept::on(&world);
    node.keep_house(3);
    node.sealpost.stop();
    world.clock.advance(YEAR);
    for _ in 0..3 {
        let restarted = Kept::on(&world);
        restarted.keep_house(5);
        restarted.sealpost.stop();
    }
    world.clock.set_back(YEAR);
    check_opens(&world, &bob, sent);
}

#[tokio::test]
async fn housekeeping_catches_up_after_a_day_without_the_service() {
    let world = World::new();
    let (bob, sent) = deliver(&world).await;
    let node = Kept::with(&world, Duration::from_hours(2));
    node.keep_house(3);
    world.clock.advance(Duration::from_hours(24));
    // Ten minutes per turn: the retention, and one turn more.
    node.keep_house(14);
    let bob = world.log_in_again(&bob);
    let opened = world.sealpost.open(&bob, &Ok(sent.to_string())).result;
    assert_eq!(refusal(opened), Refusal::EnvelopeNotFound);
}

#[tokio::test]
async fn an_envelope_that_expires_after_a_long_stop_bounces_at_the_present_time() {
    let world = World::with(Settings { events: EventsVersion::V1_1, ..Settings::default() });
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let bounces = webhook_for(EventKind::EnvelopeBounced);
    world.sealpost.register(&alice, &Ok(bounces)).result.unwrap();
    world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    let node = Kept::with(&world, Duration::from_hours(2));
    node.keep_house(3);
    world.clock.advance(Duration::from_hours(24));
    // Ten minutes per turn: the retention, and some turns more.
    node.keep_house(16);
    let now = world.clock.now();
    let claimed = world.claim(now, LeaseToken(77), now.plus(Duration::from_hours(1)));
    let times: Vec<_> = claimed.iter().map(|delivery| delivery.event.timestamp()).collect();
    assert_eq!(times, [now]);
}

#[tokio::test]
async fn a_clock_that_was_ahead_locks_no_caller_out() {
    let world = World::new();
    let alice = world.newcomer(None);
    world.clock.advance(YEAR);
    let there = world.log_in_again(&alice);
    while world.sealpost.status(&there, &Ok(())).result.is_ok() {}
    world.clock.set_back(YEAR);
    // The node that refused while its clock was ahead, and another node.
    let (same, other) = (&world.sealpost, world.another_node(Settings::default()));
    for (node, used) in [(same, 1), (&other, 2)] {
        let status = node.status(&there, &Ok(())).result.unwrap();
        assert_eq!((status.usage.minute.used, status.usage.day.used), (used, used));
    }
}

#[test]
fn a_node_that_starts_a_year_ahead_keeps_the_rows_of_other_nodes() {
    let world = World::on_postgres(Settings::default());
    let now = world.clock.now();
    let server = world.database.read(|reader| reader.shared_time(now)).unwrap();
    world.clock.advance(server.since(now));
    world.clock.set_back(now.since(server));
    let nodes = || world.database.read(|reader| reader.nodes(10)).unwrap();
    let is_listed = |start: Timestamp| nodes().iter().any(|node| node.started_at == start);
    let right = world.another_node(Settings::default());
    wait_until(|| is_listed(server));
    right.stop();

    world.clock.advance(YEAR);
    let _ahead = world.another_node(Settings::default());
    wait_until(|| is_listed(server.plus(YEAR)));
    assert!(is_listed(server));
}

/// A node with housekeeping in every millisecond, and a counter of its transactions.
struct Kept {
    sealpost: Client,
    transactions: Arc<AtomicUsize>,
}

impl Kept {
    fn on(world: &World) -> Self {
        Self::with(world, Settings::default().retention)
    }

    fn with(world: &World, retention: Duration) -> Self {
        let transactions = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&transactions);
        let store = announcing(world, move || {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let housekeeping_every = Duration::from_millis(1);
        let settings = Settings { housekeeping_every, retention, ..Settings::default() };
        Self { sealpost: world.node_on(store, settings), transactions }
    }

    /// Waits until housekeeping has run each task at least `turns` more times.
    fn keep_house(&self, turns: usize) {
        let from = self.transactions.load(Ordering::SeqCst);
        // No request uses the node. A transaction that has begun may not be done.
        wait_until(|| self.transactions.load(Ordering::SeqCst) > from + turns * CHORES);
    }
}

async fn deliver(world: &World) -> (Credentials, EnvelopeId) {
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let sent = world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    (bob, sent.message.envelope_id)
}

#[track_caller]
fn check_opens(world: &World, who: &Credentials, envelope: EnvelopeId) {
    let opened = world.sealpost.open(who, &Ok(envelope.to_string())).result.unwrap();
    assert_eq!(opened.message, "hello");
}

const YEAR: Duration = Duration::from_hours(365 * 24);
const CHORES: usize = 17;
