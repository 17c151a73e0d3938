//! Tests that a node stops reporting that it is alive after one of its threads has panicked.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use sealpost_service::Settings;
use sealpost_storage::{Access, Database};

use crate::support::{World, hooked, key_of, message};

#[tokio::test]
async fn a_node_whose_committer_panicked_is_not_alive() {
    let world = World::new();
    let alice = world.newcomer(None);
    let node = world.node_on(broken(&world, "committer"), Settings::default());
    assert!(node.is_alive());
    let message = message(&key_of(&alice), "hello", None);
    assert!(node.send(&alice, Ok(message)).await.result.is_err());
    ended(|| node.is_alive());
}

#[test]
fn a_node_whose_housekeeper_panicked_is_not_alive() {
    let world = World::new();
    let soon = Duration::from_millis(1);
    let node = world.node_on(
        broken(&world, "housekeeper"),
        Settings { housekeeping_every: soon, ..Settings::default() },
    );
    ended(|| node.is_alive());
}

#[test]
fn a_stopped_node_counts_as_alive() {
    let world = World::new();
    world.sealpost.stop();
    assert!(world.sealpost.is_alive());
}

/// Waits until the node is no longer alive. A thread ends shortly after its panic is reported.
#[track_caller]
fn ended(is_alive: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while is_alive() {
        assert!(Instant::now() < until, "not in time");
        thread::yield_now();
    }
}

/// Returns the database, which panics when a transaction of this thread begins. Other threads also write at any time.
fn broken(world: &World, panics_on: &'static str) -> Arc<Database> {
    hooked(world, move |access| {
        let is_write = matches!(access, Access::Write(_));
        assert!(!is_write || thread::current().name() != Some(panics_on), "as ordered");
        Ok(())
    })
}
