//! Tests of the stored connections of relays, which no node of these tests has.

use std::{
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{Clock as _, EventKind, Refusal, Timestamp};
use sealpost_service::{Register, Settings};

use crate::{
    client::Client,
    support::{World, refusal, webhook_for},
};

#[test]
fn a_connection_that_ended_during_its_handshake_soon_counts_no_more() {
    let world = World::new();
    let bob = world.newcomer(None);
    let url = "relay:".to_owned();
    let asked = Register { url, ..webhook_for(EventKind::EnvelopeReceived) };
    let webhook = world.sealpost.register(&bob, &Ok(asked)).result.unwrap().webhook_id;
    let open = || world.sealpost.open_relay(&bob, &Ok(webhook.to_string()));
    let opened_at = world.clock.now();
    // The dispatcher of this world has none of these connections.
    for _ in 0..4 {
        open().result.unwrap();
    }
    assert!(matches!(refusal(open().result), Refusal::QuotaExceeded { .. }));
    world.clock.advance(Duration::from_secs(11));
    let is_stored = || {
        let relays = world.database.read(|reader| reader.relays_of(&webhook, opened_at));
        !relays.unwrap().is_empty()
    };
    let until = Instant::now() + Duration::from_secs(20);
    while is_stored() {
        assert!(Instant::now() < until, "the connections still count");
        thread::sleep(Duration::from_millis(50));
    }
    open().result.unwrap();
}

#[test]
fn a_node_whose_clock_is_ahead_keeps_the_connections_of_other_nodes() {
    let world = World::on_postgres(Settings::default());
    let ahead = world.another_node(Settings::default());
    let bob = world.newcomer(None);
    let url = "relay:".to_owned();
    let asked = Register { url, ..webhook_for(EventKind::EnvelopeReceived) };
    let webhook = world.sealpost.register(&bob, &Ok(asked)).result.unwrap().webhook_id;
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
