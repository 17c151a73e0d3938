//! Tests the channel suite, with which many envelopes of a pair of keys share one key encapsulation (channel). Checks
//! when channels begin and end, and that every acknowledged envelope can be opened.

use std::{
    future::{Future as _, poll_fn},
    task::Poll,
    time::Duration,
};

use crate::{
    client::Client,
    support::{World, id, key_of, message, refusal, wait_until},
};
use sealpost_domain::{
    Code, EnvelopeId, GovernanceSubject, Refusal, Suite, Timestamp, ports::Durability,
};
use sealpost_service::{Credentials, Error, Sent, Settings};
use sealpost_storage::Transaction;

const END_OF_TIME: Timestamp = Timestamp::from_millis(1 << 47);
const ALGORITHM: &str = "HPKE-XWing-Export-HKDF-SHA256-AES-256-GCM-Ed25519";

fn settings() -> Settings {
    Settings { suite: Suite::Channel, ..Settings::default() }
}

pub(crate) async fn send(
    node: &Client,
    from: &Credentials,
    to: &Credentials,
) -> Result<Sent, Error> {
    node.send_hello(from, &key_of(to)).await
}

/// Sends a message, and checks that the recipient can open the envelope.
async fn deliver(world: &World, from: &Credentials, to: &Credentials) -> EnvelopeId {
    let sent = send(&world.sealpost, from, to).await.unwrap();
    assert_eq!(sent.message.encryption.algorithm, ALGORITHM);
    check_opens(&world.sealpost, to, sent.message.envelope_id);
    sent.message.envelope_id
}

fn check_opens(node: &Client, who: &Credentials, id: EnvelopeId) {
    let opened = node.open(who, &Ok(id.to_string())).result.unwrap();
    assert_eq!((opened.message.as_str(), opened.encryption.algorithm), ("hello", ALGORITHM));
}

/// Returns the number of stored channels. Counts the rows that a purge would delete, and rolls the purge back.
fn channels(world: &World) -> u64 {
    let mut tx = world.database.begin(Durability::Relaxed).unwrap();
    tx.purge_envelopes(END_OF_TIME, END_OF_TIME, 1_000_000).unwrap();
    tx.purge_channels(END_OF_TIME, Duration::ZERO, 1_000_000).unwrap()
}

#[tokio::test]
async fn envelopes_of_a_pair_share_a_channel_until_it_expires() {
    let world = World::with(settings());
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    for _ in 0..3 {
        deliver(&world, &alice, &bob).await;
    }
    assert_eq!(channels(&world), 1);
    world.clock.advance(Duration::from_millis(599_999));
    deliver(&world, &alice, &bob).await;
    assert_eq!(channels(&world), 1);
    world.clock.advance(Duration::from_millis(1));
    deliver(&world, &alice, &bob).await;
    assert_eq!(channels(&world), 2);
}

#[tokio::test]
async fn every_pair_and_direction_has_a_channel_of_its_own() {
    let world = World::with(settings());
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    for (number, (from, to)) in
        [(&alice, &bob), (&bob, &alice), (&alice, &alice)].into_iter().enumerate()
    {
        for _ in 0..2 {
            deliver(&world, from, to).await;
            assert_eq!(channels(&world), u64::try_from(number).unwrap() + 1);
        }
    }
}

#[tokio::test]
async fn a_limit_of_zero_envelopes_refuses_sends_and_stores_nothing() {
    let world = World::with(Settings { channel_envelopes_max: 0, ..settings() });
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let refused = refusal(send(&world.sealpost, &alice, &bob).await);
    assert_eq!((refused, channels(&world)), (Refusal::Unavailable, 0));
}

#[tokio::test]
async fn an_envelope_opens_after_a_restart_and_on_every_node() {
    let world = World::with(settings());
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let envelope = deliver(&world, &alice, &bob).await;
    world.sealpost.stop();
    let node = world.another_node(Settings { suite: Suite::Classic, ..Settings::default() });
    check_opens(&node, &bob, envelope);
    // A node has only the secrets of its own channels, so a restart opens a new channel.
    let node = world.another_node(settings());
    let sent = send(&node, &alice, &bob).await.unwrap();
    check_opens(&node, &bob, sent.message.envelope_id);
    check_opens(&node, &bob, envelope);
    assert_eq!(channels(&world), 2);
}

/// A send that finds the sender's or the recipient's key inactive is refused. It ends all cached channels of this key.
#[tokio::test]
async fn a_key_in_another_state_ends_its_channels() {
    for deactivates_sender in [true, false] {
        let world = World::with(settings());
        let [alice, bob, carol] = [(); 3].map(|()| world.newcomer(None));
        for (from, to) in [(&alice, &bob), (&bob, &carol), (&carol, &bob), (&carol, &alice)] {
            deliver(&world, from, to).await;
        }
        let (from, to) = if deactivates_sender { (&bob, &carol) } else { (&alice, &bob) };
        world.operator().deactivate_key(&id(&bob)).unwrap();
        let refused = refusal(send(&world.sealpost, from, to).await);
        assert_eq!(refused.code(), Code::KeyInactive);
        world.operator().reactivate_key(&id(&bob)).unwrap();
        assert_eq!(channels(&world), 4);
        for (from, to) in [(&alice, &bob), (&bob, &carol), (&carol, &bob), (&carol, &alice)] {
            deliver(&world, from, to).await;
        }
        assert_eq!(channels(&world), 7, "of four, the one without Bob went on");
    }
}

/// A refused opening of an envelope also ends the cached channels of the inactive key.
#[tokio::test]
async fn an_opening_that_finds_a_key_in_another_state_ends_its_channels() {
    let world = World::with(settings());
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let envelope = deliver(&world, &alice, &bob).await.to_string();
    world.operator().deactivate_key(&id(&bob)).unwrap();
    refusal(world.sealpost.open(&bob, &Ok(envelope)).result);
    world.operator().reactivate_key(&id(&bob)).unwrap();
    deliver(&world, &alice, &bob).await;
    assert_eq!(channels(&world), 2);
}

/// A channel begins before its first envelope is stored. If that envelope is refused, the channel is not stored.
#[tokio::test]
async fn a_channel_is_stored_with_its_first_stored_envelope() {
    let world = World::with(settings());
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    world.operator().enforce(&GovernanceSubject::Key(id(&bob)), "because").unwrap();
    let refused = refusal(send(&world.sealpost, &alice, &bob).await);
    assert_eq!((refused.code(), channels(&world)), (Code::GovernanceBlocked, 0));
    world.operator().lift(&GovernanceSubject::Key(id(&bob)), "because").unwrap();
    deliver(&world, &alice, &bob).await;
    deliver(&world, &alice, &bob).await;
    assert_eq!(channels(&world), 1);

    // A replayed response stores no channel.
    let once = message(&key_of(&bob), "hello", Some("once"));
    let first = world.sealpost.send(&alice, Ok(once)).await.result.unwrap();
    let node = world.another_node(settings());
    let again = message(&key_of(&bob), "hello", Some("once"));
    let replayed = node.send(&alice, Ok(again)).await.result.unwrap();
    assert_eq!(
        (replayed.replayed, replayed.message.envelope_id),
        (true, first.message.envelope_id)
    );
    assert_eq!(channels(&world), 1);
    let sent = send(&node, &alice, &bob).await.unwrap();
    check_opens(&world.sealpost, &bob, sent.message.envelope_id);
    assert_eq!(channels(&world), 2);
}

/// Concurrent sends that begin the same channel store it only once.
#[tokio::test]
async fn concurrent_sends_share_a_new_channel() {
    let world = World::with(settings());
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let sends = (0..8).map(|_| send(&world.sealpost, &alice, &bob));
    let mut sending: Vec<_> = sends.map(Box::pin).collect();
    let mut sent = Vec::new();
    poll_fn(|context| {
        sending.retain_mut(|send| match send.as_mut().poll(context) {
            Poll::Ready(done) => {
                sent.push(done.unwrap());
                false
            }
            Poll::Pending => true,
        });
        if sending.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    assert_eq!((sent.len(), channels(&world)), (8, 1));
    for envelope_id in sent.iter().map(|sent| sent.message.envelope_id) {
        check_opens(&world.sealpost, &bob, envelope_id);
    }
}

/// If the cache has no room for a channel, the next send of the same pair begins a new one. Envelopes can be opened
/// even if no channel is cached.
#[tokio::test]
async fn the_number_of_cached_channels_is_limited() {
    let world = World::with(Settings { channels_cached_max: 1, ..settings() });
    let [alice, bob, carol] = [(); 3].map(|()| world.newcomer(None));
    for (to, expected) in [(&bob, 1), (&bob, 1), (&carol, 2), (&bob, 3), (&bob, 3)] {
        deliver(&world, &alice, to).await;
        assert_eq!(channels(&world), expected);
    }
    let world = World::with(Settings { channels_cached_max: 0, ..settings() });
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    for expected in [1, 2] {
        deliver(&world, &alice, &bob).await;
        assert_eq!(channels(&world), expected);
    }
}

#[tokio::test]
async fn a_channel_is_purged_after_its_last_envelope() {
    let hour = Duration::from_hours(1);
    let every = Duration::from_millis(5);
    let settings = Settings { retention: 24 * hour, housekeeping_every: every, ..settings() };
    let world = World::with(settings);
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let first = deliver(&world, &alice, &bob).await;
    world.clock.advance(Duration::from_millis(599_999));
    let last = deliver(&world, &alice, &bob).await;
    assert_eq!(channels(&world), 1);
    // One millisecond after the first channel has expired.
    world.clock.advance((24 * hour).saturating_sub(Duration::from_millis(599_998)));
    eventually(&world, |tx| tx.find_envelope(&first, &id(&bob)).unwrap().is_none());
    assert_eq!(channels(&world), 1);
    let bob = world.log_in_again(&bob);
    check_opens(&world.sealpost, &bob, last);
    world.clock.advance(hour);
    eventually(&world, |tx| tx.find_envelope(&last, &id(&bob)).unwrap().is_none());
    eventually(&world, |tx| tx.purge_channels(END_OF_TIME, Duration::ZERO, 9).unwrap() == 0);
}

/// Waits until `is_so` returns true as a result of housekeeping.
fn eventually(world: &World, mut is_so: impl FnMut(&mut Transaction) -> bool) {
    wait_until(|| is_so(&mut world.database.begin(Durability::Relaxed).unwrap()));
}
