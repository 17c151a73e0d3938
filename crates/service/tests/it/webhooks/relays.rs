//! Tests of the stored connections of relays, which no node of these tests has.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sealpost_domain::{Clock as _, Refusal, Timestamp, ports::Durability};
use sealpost_service::Settings;
use sealpost_storage::Access;

use crate::{
    client::Client,
    support::{World, hooked, refusal, wait_until},
};

#[test]
fn a_connection_that_ended_during_its_handshake_soon_counts_no_more() {
    let world = World::new();
    let bob = world.newcomer(None);
    let webhook = world.register_at(&bob, "relay:").webhook_id;
    let open = || world.sealpost.open_relay(&bob, &Ok(webhook.to_string()));
    let opened_at = world.clock.now();
    // The dispatcher of this world has none of these connections.
    for _ in 0..4 {
        open().result.unwrap();
    }
    assert!(matches!(refusal(open().result), Refusal::QuotaExceeded { .. }));
    world.clock.advance(Duration::from_secs(11));
    wait_until(|| {
        let relays = world.database.read(|reader| reader.relays_of(&webhook, opened_at));
        relays.unwrap().is_empty()
    });
    open().result.unwrap();
}

#[test]
fn a_node_whose_clock_is_ahead_keeps_the_connections_of_other_nodes() {
    let world = World::on_postgres(Settings::default());
    let ahead = world.another_node(Settings::default());
    let bob = world.newcomer(None);
    let webhook = world.register_at(&bob, "relay:").webhook_id;
    let open = |node: &Client| node.open_relay(&bob, &Ok(webhook.to_string())).result.unwrap();
    open(&world.sealpost);
    world.clock.advance(Duration::from_secs(7));
    open(&ahead);
    let relays = world.database.read(|reader| {
        let now = reader.shared_time(Timestamp::from_millis(0))?;
        reader.relays_of(&webhook, now)
    });
    assert_eq!(relays.unwrap().len(), 2);
}

/// A connection locks its key in the next transaction. In one transaction, the connection and a change of the key could
/// wait for each other: the change locks the key before its connections.
#[test]
fn connections_of_a_crashed_node_are_deleted_in_a_transaction_before_a_new_connection() {
    let world = World::new();
    let bob = world.newcomer(None);
    let webhook = world.register_at(&bob, "relay:").webhook_id;
    let open = |node: &Client| node.open_relay(&bob, &Ok(webhook.to_string())).result.unwrap();
    let opened_at = world.clock.now();
    open(&world.sealpost);
    let (database, is_deleted) = (Arc::clone(&world.database), Arc::<AtomicBool>::default());
    let seen = Arc::clone(&is_deleted);
    let store = hooked(&world, move |access| {
        if access == Access::Write(Durability::Durable) {
            let left = database.read(|reader| reader.relays_of(&webhook, opened_at))?;
            seen.fetch_or(left.is_empty(), Ordering::SeqCst);
        }
        Ok(())
    });
    let node = world.node_on(store, Settings::default());
    world.clock.advance(Duration::from_secs(7));
    open(&node);
    assert!(is_deleted.load(Ordering::SeqCst));
}
