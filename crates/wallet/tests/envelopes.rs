//! Tests envelopes through the public interface: only the recipient can open an envelope, and only if the envelope is
//! unchanged.
#![expect(clippy::unwrap_used, reason = "a test fails if its setup fails")]

use std::{sync::OnceLock, time::Duration};

use proptest::{prelude::*, sample::Index};
use sealpost_domain::{ApiKeyId, Did, Envelope, EnvelopeId, MessageContext, Suite, Timestamp};
use sealpost_wallet::{EnvelopeDraft, Identity, Root, WalletError, open, seal};

struct Party {
    id: ApiKeyId,
    identity: Identity,
}

impl Party {
    fn new(n: u8) -> Self {
        let id = ApiKeyId::new(Timestamp::from_millis(1_767_225_600_000), [n; 10]);
        Self { id, identity: Identity::new(Root::generate().unwrap()).unwrap() }
    }

    fn did(&self) -> Did {
        self.identity.did()
    }
}

/// Returns a sender and a recipient, created once for all tests.
fn parties() -> &'static (Party, Party) {
    static PARTIES: OnceLock<(Party, Party)> = OnceLock::new();
    PARTIES.get_or_init(|| (Party::new(1), Party::new(2)))
}

fn sent(suite: Suite, version: u32, message: &[u8]) -> Envelope {
    let (sender, recipient) = parties();
    let now = Timestamp::from_millis(1_767_225_600_007);
    let draft = EnvelopeDraft {
        id: EnvelopeId::new(now, [3; 10]),
        sender: sender.id,
        recipient: recipient.id,
        timestamp: now,
        context: MessageContext::default(),
    };
    let key = recipient.identity.sealing_public_key(suite, version).unwrap();
    seal(&draft, message, &sender.identity, &key).unwrap()
}

fn opened(envelope: &Envelope) -> Result<Vec<u8>, WalletError> {
    let (sender, recipient) = parties();
    open(envelope, &recipient.identity, &sender.did()).map(|message| message.to_vec())
}

fn suites() -> impl Strategy<Value = Suite> {
    prop_oneof![Just(Suite::Classic), Just(Suite::Hybrid)]
}

fn messages() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..600)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sealed_messages_open(suite in suites(), version in any::<u32>(), message in messages()) {
        let envelope = sent(suite, version, &message);
        let overhead = if suite == Suite::Classic { 54 } else { 1142 };
        prop_assert_eq!(envelope.sealed.len(), message.len() + overhead);
        prop_assert_eq!(usize::try_from(envelope.meta.payload_size_bytes), Ok(envelope.sealed.len()));
        prop_assert_eq!(envelope.meta.suite, suite);
        prop_assert_eq!(opened(&envelope), Ok(message));
    }

    #[test]
    fn any_changed_bit_of_bytes_signature_or_hash_is_rejected(suite in suites(), place in any::<Index>(), bit in 0..8_u32) {
        let envelope = sent(suite, 1, b"message");
        let flip = |bytes: &mut [u8]| bytes[place.index(bytes.len())] ^= 1_u8 << bit;
        let (mut sealed, mut signed, mut hashed) = (envelope.clone(), envelope.clone(), envelope);
        flip(&mut sealed.sealed);
        flip(&mut signed.signature);
        flip(&mut hashed.meta.hash.0);
        for changed in [sealed, signed, hashed] {
            prop_assert_eq!(opened(&changed), Err(WalletError::NotOpenable));
        }
    }

    #[test]
    fn any_changed_metadata_is_rejected(suite in suites(), field in 0..4, change in 1..=i64::MAX) {
        let mut envelope = sent(suite, 1, b"message");
        let other = Timestamp::from_millis(change);
        let random = change.to_be_bytes().repeat(2)[..10].try_into().unwrap();
        match field {
            0 => envelope.meta.id = EnvelopeId::new(other, random),
            1 => envelope.meta.sender = ApiKeyId::new(other, random),
            2 => envelope.meta.recipient = ApiKeyId::new(other, random),
            _ => envelope.meta.timestamp = envelope.meta.timestamp.plus(Duration::from_millis(1)),
        }
        prop_assert_eq!(opened(&envelope), Err(WalletError::NotOpenable));
    }
}

#[test]
fn size_and_suite_must_agree_with_the_sealed_bytes() {
    let envelope = sent(Suite::Hybrid, 1, b"message");
    let mut larger = envelope.clone();
    larger.meta.payload_size_bytes += 1;
    let mut weaker = envelope;
    weaker.meta.suite = Suite::Classic;
    for envelope in [larger, weaker] {
        assert_eq!(opened(&envelope), Err(WalletError::NotOpenable));
    }
}

#[test]
fn only_the_recipient_opens_and_only_the_sender_verifies() {
    let (sender, recipient) = parties();
    let stranger = Party::new(9);
    for suite in [Suite::Classic, Suite::Hybrid] {
        let envelope = sent(suite, 1, b"message");
        assert!(open(&envelope, &stranger.identity, &sender.did()).is_err());
        assert!(open(&envelope, &sender.identity, &sender.did()).is_err());
        assert!(open(&envelope, &recipient.identity, &stranger.did()).is_err());
        let no_did = Did::new("did:key:z6Mk".to_owned());
        assert!(open(&envelope, &recipient.identity, &no_did).is_err());
    }
}

/// Tests that old sealing keys still open envelopes. A key rotation creates the next version of the sealing key. All
/// versions derive from the same root.
#[test]
fn every_version_of_the_sealing_key_still_opens() {
    for suite in [Suite::Classic, Suite::Hybrid] {
        let envelopes: Vec<_> = (1..4).map(|version| sent(suite, version, &[7])).collect();
        for envelope in &envelopes {
            assert_eq!(opened(envelope), Ok(vec![7]));
        }
        let mut relabelled = envelopes[0].clone();
        relabelled.sealed[5] = 2;
        assert_eq!(opened(&relabelled), Err(WalletError::NotOpenable));
    }
}

#[test]
fn sealing_a_message_twice_gives_different_bytes() {
    let (a, b) = (sent(Suite::Hybrid, 1, b"message"), sent(Suite::Hybrid, 1, b"message"));
    assert_ne!(a.sealed, b.sealed);
}

#[test]
fn a_message_of_the_largest_size_opens() {
    let message = vec![b'x'; 256 * 1024];
    assert_eq!(opened(&sent(Suite::Hybrid, 1, &message)), Ok(message));
}
