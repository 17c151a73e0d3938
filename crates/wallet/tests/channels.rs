//! Tests channels through the public interface. A channel is bound to one sender and one recipient, has a limited
//! number of envelopes, and cannot open envelopes of other channels.
#![expect(clippy::unwrap_used, reason = "a test fails if its setup fails")]

use std::{collections::BTreeSet, sync::OnceLock, thread};

use proptest::{prelude::*, sample::Index};
use sealpost_domain::{
    ApiKeyId, Channel, ChannelId, Did, Envelope, EnvelopeId, MessageContext, Suite, Timestamp,
};
use sealpost_wallet::{
    ChannelDraft, ChannelReceiver, ChannelSender, EnvelopeDraft, Identity, Root, WalletError,
    channel_of, open, seal,
};

struct Party {
    id: ApiKeyId,
    identity: Identity,
}

impl Party {
    fn new(n: u8) -> Self {
        let identity = Identity::new(Root::generate().unwrap()).unwrap();
        Self { id: ApiKeyId::new(NOW, [n; 10]), identity }
    }
}

/// Returns a sender, a recipient and an unrelated identity, created once for all tests.
fn parties() -> &'static [Party; 3] {
    static PARTIES: OnceLock<[Party; 3]> = OnceLock::new();
    PARTIES.get_or_init(|| [Party::new(1), Party::new(2), Party::new(3)])
}

fn begin(from: &Party, to: &Party, n: u8, envelopes_max: u32) -> (ChannelSender, Channel) {
    let key = to.identity.sealing_public_key(Suite::Channel, 1).unwrap();
    let draft =
        ChannelDraft { id: ChannelId::new(NOW, [n; 10]), sender: from.id, recipient: to.id };
    ChannelSender::begin(&draft, envelopes_max, &from.identity, &key).unwrap()
}

fn draft(from: &Party, to: &Party, n: u8) -> EnvelopeDraft {
    let id = EnvelopeId::new(NOW, [n; 10]);
    let context = MessageContext::default();
    EnvelopeDraft { id, sender: from.id, recipient: to.id, timestamp: NOW, context }
}

fn send(channel: &ChannelSender, n: u8, message: &[u8]) -> Envelope {
    let [sender, recipient, _] = parties();
    channel.seal(&draft(sender, recipient, n), message, &sender.identity).unwrap()
}

fn accept(channel: &Channel) -> ChannelReceiver {
    let [sender, recipient, _] = parties();
    ChannelReceiver::accept(channel, &recipient.identity, &sender.identity.did()).unwrap()
}

/// Returns a channel from the sender to the recipient, created once for all tests of envelopes.
fn channel() -> &'static (ChannelSender, ChannelReceiver) {
    static CHANNEL: OnceLock<(ChannelSender, ChannelReceiver)> = OnceLock::new();
    CHANNEL.get_or_init(|| {
        let [sender, recipient, _] = parties();
        let (sending, stored) = begin(sender, recipient, 1, u32::MAX);
        (sending, accept(&stored))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn sealed_messages_open(n in any::<u8>(), message in prop::collection::vec(any::<u8>(), 0..600)) {
        let (sender, receiver) = channel();
        let envelope = send(sender, n, &message);
        prop_assert_eq!(envelope.sealed.len(), message.len() + 38);
        prop_assert_eq!(usize::try_from(envelope.meta.payload_size_bytes), Ok(envelope.sealed.len()));
        prop_assert_eq!(envelope.meta.suite, Suite::Channel);
        prop_assert_eq!(channel_of(&envelope), Some(ChannelId::new(NOW, [1; 10])));
        prop_assert_eq!(receiver.open(&envelope).map(|it| it.to_vec()), Ok(message));
    }

    #[test]
    fn any_changed_bit_of_bytes_signature_or_hash_is_rejected(place in any::<Index>(), bit in 0..8_u32) {
        let (sender, receiver) = channel();
        let envelope = send(sender, 1, b"message");
        let flip = |bytes: &mut [u8]| bytes[place.index(bytes.len())] ^= 1_u8 << bit;
        let (mut sealed, mut signed, mut hashed) = (envelope.clone(), envelope.clone(), envelope);
        flip(&mut sealed.sealed);
        flip(&mut signed.signature);
        flip(&mut hashed.meta.hash.0);
        for changed in [sealed, signed, hashed] {
            prop_assert_eq!(receiver.open(&changed), Err(WalletError::NotOpenable));
        }
    }

    #[test]
    fn random_bytes_are_rejected_without_a_panic(rest in prop::collection::vec(any::<u8>(), 0..80)) {
        let (sender, receiver) = channel();
        let mut envelope = send(sender, 1, b"message");
        envelope.sealed = rest;
        prop_assert_eq!(receiver.open(&envelope), Err(WalletError::NotOpenable));
        channel_of(&envelope);
    }
}

#[test]
fn a_channel_seals_only_for_its_pair() {
    let [alice, bob, carol] = parties();
    let (channel, _) = begin(alice, bob, 1, 10);
    for (from, to) in [(alice, carol), (carol, bob), (bob, alice), (alice, alice)] {
        let refused = channel.seal(&draft(from, to, 1), b"message", &from.identity);
        assert_eq!(refused.map(drop), Err(WalletError::NotSealable));
    }
    assert!(channel.seal(&draft(alice, bob, 1), b"message", &alice.identity).is_ok());
}

#[test]
fn another_recipient_derives_a_wrong_secret() {
    let [alice, bob, carol] = parties();
    let (sending, stored) = begin(alice, bob, 1, 10);
    let envelope = send(&sending, 1, b"message");
    for (recipient, sender) in [(bob, carol), (bob, bob)] {
        let did = sender.identity.did();
        assert!(ChannelReceiver::accept(&stored, &recipient.identity, &did).is_err());
    }
    let no_did = Did::new("did:key:z6Mk".to_owned());
    assert!(ChannelReceiver::accept(&stored, &bob.identity, &no_did).is_err());
    // X-Wing never fails for a wrong key. It derives a wrong secret instead.
    for stranger in [alice, carol] {
        let did = alice.identity.did();
        let receiver = ChannelReceiver::accept(&stored, &stranger.identity, &did).unwrap();
        assert_eq!(receiver.open(&envelope), Err(WalletError::NotOpenable));
    }
}

#[test]
fn a_stranger_cannot_begin_a_channel_in_the_senders_name() {
    let [alice, bob, carol] = parties();
    let key = bob.identity.sealing_public_key(Suite::Channel, 1).unwrap();
    let id = ChannelId::new(NOW, [9; 10]);
    let pretended = ChannelDraft { id, sender: alice.id, recipient: bob.id };
    let (_, stored) = ChannelSender::begin(&pretended, 10, &carol.identity, &key).unwrap();
    let did = alice.identity.did();
    let refused = ChannelReceiver::accept(&stored, &bob.identity, &did);
    assert_eq!(refused.map(drop), Err(WalletError::NotOpenable));
}

#[test]
fn an_envelope_opens_only_in_its_own_channel() {
    let [alice, bob, carol] = parties();
    let (sending, stored) = begin(alice, bob, 1, 10);
    let (_, later) = begin(alice, bob, 2, 10);
    let (_, back) = begin(bob, alice, 3, 10);
    let (_, elsewhere) = begin(carol, bob, 4, 10);
    let envelope = send(&sending, 1, b"message");
    assert!(accept(&stored).open(&envelope).is_ok());
    let other = |channel: &Channel, recipient: &Party, sender: &Party| {
        let did = sender.identity.did();
        ChannelReceiver::accept(channel, &recipient.identity, &did).unwrap().open(&envelope)
    };
    for refused in
        [other(&later, bob, alice), other(&back, alice, bob), other(&elsewhere, bob, carol)]
    {
        assert_eq!(refused, Err(WalletError::NotOpenable));
    }
}

/// Tests that an envelope of one cipher suite does not open as an envelope of another suite, although the suites share
/// the recipient's X-Wing key.
#[test]
fn suites_do_not_open_each_other() {
    let [alice, bob, _] = parties();
    let (sender, receiver) = channel();
    let in_channel = send(sender, 1, b"message");
    assert!(open(&in_channel, &bob.identity, &alice.identity.did()).is_err());
    for suite in [Suite::Classic, Suite::Hybrid] {
        let key = bob.identity.sealing_public_key(suite, 1).unwrap();
        let alone = seal(&draft(alice, bob, 1), b"message", &alice.identity, &key).unwrap();
        assert_eq!(channel_of(&alone), None);
        assert!(receiver.open(&alone).is_err());
        let mut renamed = alone;
        renamed.sealed[1] = Suite::Channel.byte();
        renamed.meta.suite = Suite::Channel;
        assert!(receiver.open(&renamed).is_err());
        assert!(open(&renamed, &bob.identity, &alice.identity.did()).is_err());
    }
}

#[test]
fn keys_of_the_classic_suite_have_no_channels() {
    let [alice, bob, _] = parties();
    let key = bob.identity.sealing_public_key(Suite::Classic, 1).unwrap();
    let draft =
        ChannelDraft { id: ChannelId::new(NOW, [1; 10]), sender: alice.id, recipient: bob.id };
    let refused = ChannelSender::begin(&draft, 10, &alice.identity, &key);
    assert_eq!(refused.map(drop), Err(WalletError::NotSealable));
}

/// Tests that concurrent threads get different envelope numbers, and in total no more than the maximum.
#[test]
fn each_number_is_issued_once_up_to_the_maximum() {
    let [alice, bob, _] = parties();
    let (channel, stored) = begin(alice, bob, 1, 40);
    let seal = || channel.seal(&draft(alice, bob, 1), b"message", &alice.identity);
    let sealed: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..15).map(|_| seal()).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let numbers: BTreeSet<_> =
        sealed.iter().flatten().map(|it| it.sealed[18..22].to_vec()).collect();
    assert_eq!(numbers.len(), 40);
    assert_eq!(sealed.iter().flatten().count(), 40);
    assert_eq!(seal().map(drop), Err(WalletError::ChannelExhausted));
    let receiver = accept(&stored);
    assert!(sealed.iter().flatten().all(|envelope| receiver.open(envelope).is_ok()));
}

#[test]
fn a_message_of_the_largest_size_opens() {
    let (sender, receiver) = channel();
    let message = vec![b'x'; 256 * 1024];
    assert_eq!(receiver.open(&send(sender, 1, &message)).map(|it| it.to_vec()), Ok(message));
}

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_007);
