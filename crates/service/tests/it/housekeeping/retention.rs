//! Tests that callers cannot see expired envelopes and idempotency keys, even if housekeeping has not deleted them yet.

use std::time::Duration;

use sealpost_domain::{IdempotencyKey, Refusal};
use sealpost_service::{Credentials, Error, Send, Sent, Settings};

use crate::support::{World, refusal};

fn key(who: &Credentials) -> String {
    who.key.clone().unwrap().unwrap()
}

async fn send(world: &World, from: &Credentials, message: &str) -> Result<Sent, Error> {
    let idempotency_key = Some(IdempotencyKey::parse("order-7").unwrap());
    let send = Send { to: key(from), message: message.to_owned(), idempotency_key };
    world.sealpost.send(from, Ok(send)).await.result
}

/// Starts a service on SQLite and a service on PostgreSQL. Housekeeping runs once a minute, and the tests take less
/// time.
fn worlds(settings: &Settings) -> [World; 2] {
    [World::with(settings.clone()), World::on_postgres(settings.clone())]
}

async fn check_name_is_kept_for_an_hour(settings: &Settings) {
    for world in worlds(settings) {
        let alice = world.newcomer(None);
        let first = send(&world, &alice, "x").await.unwrap();
        world.clock.advance(HOUR);
        let again = send(&world, &alice, "x").await.unwrap();
        assert!(again.replayed && again.envelope_id == first.envelope_id);
        assert_eq!(refusal(send(&world, &alice, "y").await), Refusal::IdempotencyKeyReused);
        world.clock.advance(MOMENT);
        let second = send(&world, &alice, "y").await.unwrap();
        assert!(!second.replayed && second.envelope_id != first.envelope_id);
        // The second send has a retention of its own.
        world.clock.advance(HOUR);
        let again = send(&world, &alice, "y").await.unwrap();
        assert!(again.replayed && again.envelope_id == second.envelope_id);
        assert_eq!(refusal(send(&world, &alice, "x").await), Refusal::IdempotencyKeyReused);
    }
}

#[tokio::test]
async fn an_expired_idempotency_key_is_free_again() {
    check_name_is_kept_for_an_hour(&Settings { idempotency_ttl: HOUR, ..Settings::default() })
        .await;
}

#[tokio::test]
async fn an_idempotency_key_expires_with_its_envelope() {
    check_name_is_kept_for_an_hour(&Settings { retention: HOUR, ..Settings::default() }).await;
}

#[tokio::test]
async fn an_expired_envelope_is_not_found() {
    for world in worlds(&Settings { retention: HOUR, ..Settings::default() }) {
        let alice = world.newcomer(None);
        let id = send(&world, &alice, "x").await.unwrap().envelope_id.to_string();
        let open = || world.sealpost.open(&alice, &Ok(id.clone())).result;
        world.clock.advance(HOUR);
        assert_eq!(open().unwrap().message, "x");
        world.clock.advance(MOMENT);
        assert_eq!(refusal(open()), Refusal::EnvelopeNotFound);
    }
}

const HOUR: Duration = Duration::from_hours(1);
const MOMENT: Duration = Duration::from_millis(1);
