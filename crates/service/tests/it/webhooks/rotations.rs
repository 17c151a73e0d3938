//! Tests `identity.rotated`: each change of a key is reported to its correspondents (the keys that sent envelopes to
//! the key or received envelopes from it).

use std::{
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{
    ApiKeyId, Clock as _, EventKind, EventsVersion, LeaseToken,
    ports::{Durability::Relaxed, HousekeepingTurn},
};
use sealpost_service::Settings;
use serde_json::Value;

use crate::support::{World, id, webhook_for};

fn settings() -> Settings {
    Settings {
        events: EventsVersion::V1_1,
        housekeeping_every: Duration::from_millis(5),
        ..Settings::default()
    }
}

/// Claims deliveries until `count` events `identity.rotated` are found. Returns the key, the handle, the replacing key
/// and the reason of each event.
fn await_rotations(world: &World, count: usize) -> Vec<[Value; 4]> {
    let until = Instant::now() + Duration::from_secs(20);
    let mut found = Vec::new();
    while found.len() < count {
        assert!(Instant::now() < until, "{found:?}");
        let now = world.clock.now();
        for delivery in world.claim(now, LeaseToken(77), now.plus(Duration::from_hours(1))) {
            let body: Value =
                serde_json::from_slice(&delivery.event.body(EventsVersion::V1_1).unwrap()).unwrap();
            if body["event"] == "identity.rotated" {
                let member = |name: &str| body[name].clone();
                found.push(["api_key_id", "handle", "replaced_by", "reason"].map(member));
            }
        }
        thread::sleep(Duration::from_millis(5));
    }
    found
}

#[tokio::test]
async fn an_activation_with_the_handle_of_a_revoked_key_informs_its_correspondents() {
    for world in World::on_both(&settings()) {
        let (alice, bob) = (world.newcomer(None), world.newcomer(Some("bob")));
        let register = webhook_for(EventKind::IdentityRotated);
        world.sealpost.register(&alice, &Ok(register.clone())).result.unwrap();
        world.sealpost.register(&bob, &Ok(register)).result.unwrap();
        world.sealpost.send_hello(&alice, "bob").await.unwrap();
        let text = |key: ApiKeyId| Value::from(key.to_string());
        let (key, handle) = (text(id(&bob)), Value::from("bob"));

        world.clock.advance(Duration::from_secs(1));
        world.operator().revoke_key(&id(&bob)).unwrap();
        let revoked = [key.clone(), handle.clone(), Value::Null, "revoked".into()];
        assert_eq!(await_rotations(&world, 1), [revoked]);

        let next = world.activate(bob.token.as_deref(), Some("bob")).unwrap().api_key_id;
        let replaced = [key, handle, text(next), "replaced".into()];
        assert_eq!(await_rotations(&world, 1), [replaced]);
    }
}

/// Tries to take the turn at the task as another node, whose clock is ahead of the test clock by `later`. Returns true
/// if the other node gets the turn.
fn another_node_takes_the_turn(world: &World, later: Duration) -> bool {
    let turn = HousekeepingTurn {
        task: "identity_rotations",
        node: LeaseToken(99),
        now: world.clock.now().plus(later),
        held_for: Duration::from_secs(5),
        pace: Duration::ZERO,
    };
    world.database.write(Relaxed, |tx| tx.take_housekeeping_turn(&turn)).unwrap().is_some()
}

#[tokio::test]
async fn a_node_has_the_turn_for_five_seconds_also_after_a_time_without_changes() {
    let world = World::with(settings());
    let (alice, bob) = (world.newcomer(None), world.newcomer(Some("bob")));
    let register = webhook_for(EventKind::IdentityRotated);
    world.sealpost.register(&alice, &Ok(register)).result.unwrap();
    world.sealpost.send_hello(&alice, "bob").await.unwrap();
    world.clock.advance(Duration::from_secs(1));
    world.operator().rotate_key(&id(&bob)).unwrap();
    await_rotations(&world, 1);

    world.clock.advance(Duration::from_mins(30));
    world.operator().revoke_key(&id(&bob)).unwrap();
    await_rotations(&world, 1);
    assert!(!another_node_takes_the_turn(&world, Duration::from_millis(4_999)));
    assert!(another_node_takes_the_turn(&world, Duration::from_secs(5)));
}
