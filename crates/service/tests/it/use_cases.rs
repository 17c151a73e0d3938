//! Tests the use cases on an embedded database, as callers see them.

use std::{
    future::Future as _,
    sync::atomic::Ordering,
    task::{Context, Poll, Waker},
};

use crate::support::{World, key_of, open, refusal, webhook_for};
use sealpost_domain::{Code, EventKind, Refusal, ports::Durability};
use sealpost_service::{Register, Settings, unlock};
use sealpost_wallet::Keyring;

#[tokio::test]
async fn each_webhook_gets_a_delivery_and_deliveries_beyond_the_capacity_stay_unleased() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    for _ in 0..2 {
        world.register(&bob);
    }
    world.dispatch.taken.store(99, Ordering::SeqCst);
    let sent = world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    world.sealpost.stop();
    let submitted = world.dispatch.submitted.lock().unwrap().clone();
    assert_eq!(submitted.len(), 1, "there was room for one of two");
    assert!(
        submitted.iter().all(|delivery| delivery.event.id() == sent.message.envelope_id.into())
    );
}

#[test]
fn a_url_that_the_guard_refuses_is_an_invalid_field() {
    let world = World::with(Settings { webhooks_per_key_max: 1, ..Settings::default() });
    let bob = world.newcomer(None);
    let url = "https://private/".to_owned();
    let asked = Register { url, ..webhook_for(EventKind::EnvelopeReceived) };
    let refused = || refusal(world.sealpost.register(&bob, &Ok(asked.clone())).result);
    let fault = refused();
    assert_eq!((fault.code(), fault.field()), (Code::InvalidField, Some("url")));
    assert_eq!(fault.to_string(), "url must not be private");
    // The guard checks no URL that the limit refuses anyway.
    world.register(&bob);
    assert_eq!(refused().code(), Code::QuotaExceeded);
}

/// Each send is larger than the byte limit of the queue. An empty queue accepts such a send, so exactly one can wait.
#[tokio::test]
async fn a_queue_that_is_full_by_bytes_refuses_at_once_and_recovers() {
    let world = World::with(Settings { queue_bytes_max: 1, ..Settings::default() });
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    let other = open(&world.file);
    let writing = other.begin(Durability::Durable).unwrap();
    let to = key_of(&bob);
    let mut context = Context::from_waker(Waker::noop());
    let mut first = Box::pin(world.sealpost.send_hello(&alice, &to));
    assert!(first.as_mut().poll(&mut context).is_pending());
    for _ in 0..2 {
        let mut next = Box::pin(world.sealpost.send_hello(&alice, &to));
        let Poll::Ready(done) = next.as_mut().poll(&mut context) else { panic!("not at once") };
        assert_eq!(refusal(done), Refusal::Unavailable);
    }
    drop(writing);
    first.await.unwrap();
    world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    assert_eq!(world.sealpost.status(&alice, &Ok(())).result.unwrap().usage.month.used, 3);
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_and_stores_nothing() {
    let world = World::with(Settings { queue_max: 1, batch_max: 1, ..Settings::default() });
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();

    // While another writer holds the database, one send is with the committer and one in the queue.
    let other = open(&world.file);
    let writing = other.begin(Durability::Durable).unwrap();
    let to = key_of(&bob);
    let mut sends: Vec<_> =
        (0..3).map(|_| Box::pin(world.sealpost.send_hello(&alice, &to))).collect();
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
                break refusal(done);
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
    let sent = world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    world.sealpost.stop();
    let refused = world.sealpost.send_hello(&alice, &key_of(&bob)).await;
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
