//! Tests that a node stops reporting that it is alive after one of its threads has panicked.

use std::{sync::Arc, thread, time::Duration};

use sealpost_service::Settings;
use sealpost_storage::{Access, Database};

use crate::support::{World, hooked, key_of, wait_until};

#[tokio::test]
async fn a_node_whose_committer_panicked_is_not_alive() {
    let world = World::new();
    let alice = world.newcomer(None);
    let node = world.node_on(broken(&world, "committer"), Settings::default());
    assert!(node.is_alive());
    assert!(node.send_hello(&alice, &key_of(&alice)).await.is_err());
    wait_until(|| !node.is_alive());
}

#[test]
fn a_node_whose_housekeeper_panicked_is_not_alive() {
    let world = World::new();
    let soon = Duration::from_millis(1);
    let node = world.node_on(
        broken(&world, "housekeeper"),
        Settings { housekeeping_every: soon, ..Settings::default() },
    );
    wait_until(|| !node.is_alive());
}

#[test]
fn a_stopped_node_counts_as_alive() {
    let world = World::new();
    world.sealpost.stop();
    assert!(world.sealpost.is_alive());
}

/// Returns the database, which panics when a transaction of this thread begins. Other threads also write at any time.
fn broken(world: &World, panics_on: &'static str) -> Arc<Database> {
    hooked(world, move |access| {
        let is_write = matches!(access, Access::Write(_));
        assert!(!is_write || thread::current().name() != Some(panics_on), "as ordered");
        Ok(())
    })
}
