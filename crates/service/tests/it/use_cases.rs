//! Tests the use cases on an embedded database, as callers see them.

use std::{
    future::Future as _,
    sync::atomic::Ordering,
    task::{Context, Poll, Waker},
    time::Duration,
};

use crate::client::{Manage, Managed};
use crate::support::{World, key_of, open, refusal, webhook_for};
use sealpost_domain::{Code, EventKind, Refusal, ports::Durability};
use sealpost_service::{Credentials, NewMessage, Register, Scope, Sent, Settings, unlock};
use sealpost_wallet::Keyring;

fn message(to: &str) -> NewMessage {
    crate::support::message(to, "hello", None)
}

async fn send(world: &World, from: &Credentials, to: &str) -> Sent {
    world.sealpost.send(from, Ok(message(to))).await.result.unwrap()
}

#[tokio::test]
async fn only_the_recipient_opens_an_envelope() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(Some("bob")));
    let sent = send(&world, &alice, "@BOB").await;
    let id = sent.message.envelope_id.to_string();
    assert_eq!(sent.message.recipient.to_string(), key_of(&bob));
    assert_eq!(
        refusal(world.sealpost.open(&alice, &Ok(id.clone())).result),
        Refusal::EnvelopeNotFound
    );

    let first = world.sealpost.open(&bob, &Ok(id.clone())).result.unwrap();
    world.clock.advance(Duration::from_secs(1));
    let second = world.sealpost.open(&bob, &Ok(id.clone())).result.unwrap();
    assert_eq!((first.message.as_str(), first.sender.to_string()), ("hello", key_of(&alice)));
    assert_eq!(first.opened_at, second.opened_at, "the first opening is the one that is told");
}

#[tokio::test]
async fn each_webhook_gets_a_delivery_and_deliveries_beyond_the_capacity_stay_unleased() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    for _ in 0..2 {
        world.register(&bob);
    }
    world.dispatch.taken.store(99, Ordering::SeqCst);
    let sent = send(&world, &alice, &key_of(&bob)).await;
    world.sealpost.stop();
    let submitted = world.dispatch.submitted.lock().unwrap().clone();
    assert_eq!(submitted.len(), 1, "there was room for one of two");
    assert!(
        submitted.iter().all(|delivery| delivery.event.id() == sent.message.envelope_id.into())
    );
}

#[tokio::test]
async fn a_deleted_webhook_gets_no_delivery() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let webhook_id = world.register(&bob).webhook_id.to_string();
    let delete = || Ok(Manage::Delete { webhook_id: webhook_id.clone() });
    assert_eq!(refusal(world.sealpost.manage(&alice, &delete()).result), Refusal::WebhookNotFound);
    assert!(matches!(world.sealpost.manage(&bob, &delete()).result.unwrap(), Managed::Deleted(_)));
    assert_eq!(refusal(world.sealpost.manage(&bob, &delete()).result), Refusal::WebhookNotFound);
    send(&world, &alice, &key_of(&bob)).await;
    world.sealpost.stop();
    assert!(world.dispatch.submitted.lock().unwrap().is_empty());
}

#[test]
fn a_url_that_the_guard_refuses_is_an_invalid_field() {
    let world = World::new();
    let bob = world.newcomer(None);
    let url = "https://private/".to_owned();
    let asked = Register { url, ..webhook_for(EventKind::EnvelopeReceived) };
    let refused = refusal(world.sealpost.register(&bob, &Ok(asked)).result);
    assert_eq!((refused.code(), refused.field()), (Code::InvalidField, Some("url")));
    assert_eq!(refused.to_string(), "url must not be private");
}

#[tokio::test]
async fn refused_requests_count_unless_a_limit_refused_them() {
    let world = World::new();
    let alice = world.newcomer(None);
    for _ in 0..3 {
        let refused = world.sealpost.send(&alice, Ok(message("nobody-here"))).await.result;
        assert_eq!(refusal(refused), Refusal::KeyNotFound { field: Some("to") });
    }
    let missing = Refusal::MissingField { field: "to" };
    assert_eq!(refusal(world.sealpost.send(&alice, Err(missing.clone())).await.result), missing);
    let usage = world.sealpost.status(&alice, &Ok(())).result.unwrap().usage;
    assert_eq!((usage.minute.used, usage.month.used), (5, 0));
}

#[tokio::test]
async fn the_twenty_first_request_of_a_minute_is_refused_before_its_body_is_judged() {
    let world = World::new();
    let alice = world.newcomer(None);
    for _ in 0..20 {
        world.sealpost.status(&alice, &Ok(())).result.unwrap();
    }
    let refused = refusal(world.sealpost.send(&alice, Err(Refusal::InvalidJson)).await.result);
    assert_eq!(refused.code(), Code::RateLimitExceeded);
    world.clock.advance(Duration::from_secs(refused.retry_after_s().unwrap()));
    assert_eq!(world.sealpost.status(&alice, &Ok(())).result.unwrap().usage.minute.used, 1);
}

#[tokio::test]
async fn a_cached_session_ends_with_its_logout_and_its_expiry() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    send(&world, &alice, &key_of(&bob)).await;
    world.sealpost.logout(alice.token.as_deref(), Ok(Scope::Session)).unwrap();
    let refused = world.sealpost.send(&alice, Ok(message(&key_of(&bob)))).await.result;
    assert_eq!(refusal(refused).code(), Code::Unauthorized);

    send(&world, &bob, &key_of(&alice)).await;
    world.clock.advance(Duration::from_hours(12));
    let refused = world.sealpost.send(&bob, Ok(message(&key_of(&alice)))).await.result;
    assert_eq!(refusal(refused).code(), Code::Unauthorized);
}

#[test]
fn keys_per_account_and_webhooks_per_key_are_limited() {
    let settings = Settings { keys_per_account_max: 2, ..Settings::default() };
    let world = World::with(settings);
    let alice = world.newcomer(None);
    world.activate(alice.token.as_deref(), None).unwrap();
    let refused = refusal(world.activate(alice.token.as_deref(), None));
    assert_eq!(refused.code(), Code::QuotaExceeded);
    for _ in 0..16 {
        world.register(&alice);
    }
    // The guard checks no URL that the limit refuses anyway.
    for url in ["https://bob.example/", "https://private/"] {
        let url = url.to_owned();
        let asked = Register { url, ..webhook_for(EventKind::EnvelopeReceived) };
        let refused = refusal(world.sealpost.register(&alice, &Ok(asked)).result);
        assert_eq!(refused.code(), Code::QuotaExceeded);
    }
}

#[test]
fn a_handle_in_use_is_refused() {
    let world = World::new();
    let alice = world.newcomer(Some("alice"));
    assert_eq!(refusal(world.activate(None, Some("alice"))), Refusal::HandleTaken);
    let again = world.activate(alice.token.as_deref(), Some("alice"));
    assert_eq!(refusal(again), Refusal::HandleTaken, "not even the same account's, while it lives");
}

/// Each send is larger than the byte limit of the queue. An empty queue accepts such a send, so exactly one can wait.
#[tokio::test]
async fn a_queue_that_is_full_by_bytes_refuses_at_once_and_recovers() {
    let world = World::with(Settings { queue_bytes_max: 1, ..Settings::default() });
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    send(&world, &alice, &key_of(&bob)).await;
    let other = open(&world.file);
    let writing = other.begin(Durability::Durable).unwrap();
    let to = key_of(&bob);
    let mut context = Context::from_waker(Waker::noop());
    let mut first = Box::pin(world.sealpost.send(&alice, Ok(message(&to))));
    assert!(first.as_mut().poll(&mut context).is_pending());
    for _ in 0..2 {
        let mut next = Box::pin(world.sealpost.send(&alice, Ok(message(&to))));
        let Poll::Ready(done) = next.as_mut().poll(&mut context) else { panic!("not at once") };
        assert_eq!(refusal(done.result), Refusal::Unavailable);
    }
    drop(writing);
    first.await.result.unwrap();
    send(&world, &alice, &key_of(&bob)).await;
    assert_eq!(world.sealpost.status(&alice, &Ok(())).result.unwrap().usage.month.used, 3);
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_and_stores_nothing() {
    let world = World::with(Settings { queue_max: 1, batch_max: 1, ..Settings::default() });
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    send(&world, &alice, &key_of(&bob)).await;

    // While another writer holds the database, one send is with the committer and one in the queue.
    let other = open(&world.file);
    let writing = other.begin(Durability::Durable).unwrap();
    let to = key_of(&bob);
    let mut sends: Vec<_> =
        (0..3).map(|_| Box::pin(world.sealpost.send(&alice, Ok(message(&to))))).collect();
    let mut context = Context::from_waker(Waker::noop());
    let refused = loop {
        let done = sends.iter_mut().enumerate().find_map(|(at, sending)| {
            match sending.as_mut().poll(&mut context) {
                Poll::Ready(done) => Some((at, done)),
                Poll::Pending => None,
            }
        });
        match done {
            Some((at, done)) => {
                drop(sends.remove(at));
                break refusal(done.result);
            }
            None => tokio::task::yield_now().await,
        }
    };
    assert_eq!(refused, Refusal::Unavailable);
    drop(writing);
    for sending in sends {
        // The committer took the send in time, or the queue was full.
        drop(sending.await);
    }
    let usage = world.sealpost.status(&alice, &Ok(())).result.unwrap().usage;
    assert!(usage.month.used < 4, "what was refused is not stored");
}

#[tokio::test]
async fn a_stopped_service_has_stored_its_queue_and_refuses_sends() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let sent = send(&world, &alice, &key_of(&bob)).await;
    world.sealpost.stop();
    let refused = world.sealpost.send(&alice, Ok(message(&key_of(&bob)))).await.result;
    assert_eq!(refusal(refused), Refusal::Unavailable);
    assert!(world.sealpost.check().is_err());
    let found = open(&world.file).read(|reader| reader.find_key(&sent.message.sender)).unwrap();
    assert!(found.is_some());
}

#[test]
fn a_wrong_or_missing_key_encryption_key_is_refused() {
    let world = World::new();
    let database = open(&world.file);
    let wrong = Keyring::parse(&Keyring::fresh_line(1).unwrap()).unwrap();
    let said = unlock(&wrong, &database).unwrap_err().to_string();
    assert!(said.contains("version 1 does not match"), "{said}");
    let other = Keyring::parse(&Keyring::fresh_line(2).unwrap()).unwrap();
    let said = unlock(&other, &database).unwrap_err().to_string();
    assert!(said.contains("version 1 is missing"), "{said}");
}
