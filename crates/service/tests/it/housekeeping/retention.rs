//! Tests that callers cannot see expired envelopes and idempotency keys, even if housekeeping has not deleted them yet.
//! Housekeeping runs once a minute, and the tests take less time.

use std::time::Duration;

use sealpost_domain::Refusal;
use sealpost_service::{Credentials, Deliveries, Error, Sent, Settings};

use crate::client::{Manage, Managed};
use crate::support::{World, key_of, message, refusal};

async fn send(world: &World, from: &Credentials, text: &str) -> Result<Sent, Error> {
    let send = message(&key_of(from), text, Some("order-7"));
    world.sealpost.send(from, Ok(send)).await.result
}

async fn check_name_is_kept_for_an_hour(settings: &Settings) {
    for world in World::on_both(settings) {
        let alice = world.newcomer(None);
        let first = send(&world, &alice, "x").await.unwrap();
        world.clock.advance(HOUR);
        let again = send(&world, &alice, "x").await.unwrap();
        assert!(again.replayed && again.message.envelope_id == first.message.envelope_id);
        assert_eq!(refusal(send(&world, &alice, "y").await), Refusal::IdempotencyKeyReused);
        world.clock.advance(MOMENT);
        let second = send(&world, &alice, "y").await.unwrap();
        assert!(!second.replayed && second.message.envelope_id != first.message.envelope_id);
        // The second send has a retention of its own.
        world.clock.advance(HOUR);
        let again = send(&world, &alice, "y").await.unwrap();
        assert!(again.replayed && again.message.envelope_id == second.message.envelope_id);
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

/// No caller finds the envelope, in whichever table it still has a row.
#[tokio::test]
async fn an_expired_envelope_is_gone_for_the_recipient() {
    for world in World::on_both(&Settings { retention: HOUR, ..Settings::default() }) {
        let (alice, bob) = (world.newcomer(None), world.newcomer(None));
        send_to(&world, &alice, &bob).await;
        let waiting = || world.sealpost.status(&bob, &Ok(())).result.unwrap().waiting.waiting;
        world.clock.advance(HOUR);
        assert_eq!(waiting(), 1);
        world.clock.advance(MOMENT);
        assert_eq!(waiting(), 0);
        let hook = world.register(&bob);
        assert_eq!(hook.waiting.waiting, 0);

        let webhook_id = hook.webhook_id.to_string();
        let id = send_to(&world, &alice, &bob).await;
        let redeliver = || {
            let (webhook_id, envelope_id) = (webhook_id.clone(), id.clone());
            let again = Manage::Redeliver { webhook_id, envelope_id };
            world.sealpost.manage(&bob, &Ok(again)).result
        };
        let open = || world.sealpost.open(&bob, &Ok(id.clone())).result;
        let pending = || {
            let query =
                Deliveries { webhook_id: webhook_id.clone(), state: None, limit: 9, cursor: None };
            match world.sealpost.manage(&bob, &Ok(Manage::Deliveries(query))).result {
                Ok(Managed::Deliveries(page)) => page.deliveries.len(),
                _ => panic!("no page"),
            }
        };
        world.clock.advance(HOUR);
        assert!(redeliver().is_ok());
        assert_eq!((pending(), open().unwrap().message.as_str()), (1, "x"));
        world.clock.advance(MOMENT);
        assert_eq!(refusal(redeliver()), Refusal::EnvelopeNotFound);
        assert_eq!(refusal(open()), Refusal::EnvelopeNotFound);
        assert_eq!(pending(), 0);
    }
}

async fn send_to(world: &World, from: &Credentials, to: &Credentials) -> String {
    let send = message(&key_of(to), "x", None);
    world.sealpost.send(from, Ok(send)).await.result.unwrap().message.envelope_id.to_string()
}

const HOUR: Duration = Duration::from_hours(1);
const MOMENT: Duration = Duration::from_millis(1);
