//! Tests `identity.rotated`: each change of a key is reported to its correspondents (the keys that sent envelopes to
//! the key or received envelopes from it).

use std::{
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{
    ApiKeyId, Clock as _, EventKind, EventsVersion, Handle,
    ports::{Claim, Outbox as _},
};
use sealpost_service::{Credentials, NewMessage, Register, SendContext, Settings, WaitingChoice};
use serde_json::Value;

use crate::support::World;

fn settings() -> Settings {
    Settings {
        events: EventsVersion::V1_1,
        housekeeping_every: Duration::from_millis(5),
        ..Settings::default()
    }
}

fn id(credentials: &Credentials) -> ApiKeyId {
    crate::support::key_of(credentials).parse().unwrap()
}

/// Claims deliveries until `count` events `identity.rotated` are found. Returns the key, the handle, the replacing key
/// and the reason of each event.
fn await_rotations(world: &World, count: usize) -> Vec<[Value; 4]> {
    let until = Instant::now() + Duration::from_secs(20);
    let mut found = Vec::new();
    while found.len() < count {
        assert!(Instant::now() < until, "{found:?}");
        let claim = Claim {
            now: world.clock.now(),
            oldest: sealpost_domain::Timestamp::from_millis(0),
            limit: 100,
            per_target_max: 100,
            full: Vec::new(),
            lease: sealpost_domain::LeaseToken(77),
            lease_until: world.clock.now().plus(Duration::from_hours(1)),
        };
        for delivery in world.database.claim(&claim).unwrap() {
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

async fn every_change_of_a_key_informs_its_correspondents(world: World) {
    let (alice, bob) = (world.newcomer(None), world.newcomer(Some("bob")));
    let register = Register {
        url: "https://alice.example/".to_owned(),
        events: vec![EventKind::IdentityRotated],
        description: None,
        waiting: WaitingChoice::Deliver,
    };
    world.sealpost.register(&alice, &Ok(register.clone())).result.unwrap();
    world.sealpost.register(&bob, &Ok(register)).result.unwrap();
    let send = NewMessage {
        to: "bob".to_owned(),
        message: "hello".to_owned(),
        context: SendContext::default(),
        trace: None,
        idempotency_key: None,
    };
    world.sealpost.send(&alice, Ok(send)).await.result.unwrap();
    let text = |key: ApiKeyId| Value::from(key.to_string());
    let (key, handle) = (text(id(&bob)), Value::from("bob"));

    world.clock.advance(Duration::from_secs(1));
    world.operator().rotate_key(&id(&bob)).unwrap();
    let rotated = [key.clone(), handle.clone(), Value::Null, "sealing_key".into()];
    assert_eq!(await_rotations(&world, 1), [rotated]);

    world.operator().revoke_key(&id(&bob)).unwrap();
    let revoked = [key.clone(), handle.clone(), Value::Null, "revoked".into()];
    assert_eq!(await_rotations(&world, 1), [revoked]);

    let next = world.activate(bob.token.as_deref(), Some("bob")).unwrap().api_key_id;
    let replaced = [key, handle.clone(), text(next), "replaced".into()];
    assert_eq!(await_rotations(&world, 1), [replaced]);

    let send = NewMessage {
        to: "bob".to_owned(),
        message: "hello".to_owned(),
        context: SendContext::default(),
        trace: None,
        idempotency_key: None,
    };
    world.sealpost.send(&alice, Ok(send)).await.result.unwrap();
    world.clock.advance(Duration::from_secs(1));
    world.operator().revoke_key(&next).unwrap();
    await_rotations(&world, 1);
    let carol = id(&world.newcomer(None));
    world.operator().assign_handle(&Handle::parse("bob").unwrap(), &carol).unwrap();
    let replaced = [text(next), handle, text(carol), "replaced".into()];
    assert_eq!(await_rotations(&world, 1), [replaced]);
}

#[tokio::test]
async fn every_change_informs_correspondents_on_sqlite() {
    every_change_of_a_key_informs_its_correspondents(World::with(settings())).await;
}

#[tokio::test]
async fn every_change_informs_correspondents_on_postgres() {
    every_change_of_a_key_informs_its_correspondents(World::on_postgres(settings())).await;
}
