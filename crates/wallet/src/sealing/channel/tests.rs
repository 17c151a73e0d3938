//! Tests attacks on channels: envelopes with new hashes and new signatures, replays, and swapped database rows.
//! `tests/channels.rs` tests the public interface.

use sealpost_domain::{EnvelopeHash, MessageContext, MessageType, ThreadId, Timestamp};
use sha2::{Digest, Sha256};

use super::*;

const MESSAGE: &[u8] = b"Meet me at the usual place.";
const SENDER: &str = "ak_01h455vb4pex5vsknk084sn02q";
const RECIPIENT: &str = "ak_00000000000000000000000001";

fn channel_draft() -> ChannelDraft {
    ChannelDraft {
        id: "chn_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        sender: SENDER.parse().unwrap(),
        recipient: RECIPIENT.parse().unwrap(),
    }
}

fn draft() -> EnvelopeDraft {
    EnvelopeDraft {
        id: "env_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        sender: SENDER.parse().unwrap(),
        recipient: RECIPIENT.parse().unwrap(),
        timestamp: Timestamp::from_millis(1_767_225_600_007),
        context: MessageContext::default(),
    }
}

/// Begins a channel from identity 1 to identity 2 with fixed randomness.
fn begun(randomness: u8) -> (ChannelSender, Channel) {
    let key = Identity::from_byte(2).sealing_public_key(Suite::Channel, 3).unwrap();
    let mut entropy = Entropy::new([randomness; 64]);
    ChannelSender::begin_with(&channel_draft(), 100, &Identity::from_byte(1), &key, &mut entropy)
        .unwrap()
}

fn accepted(channel: &Channel) -> Result<ChannelReceiver, WalletError> {
    ChannelReceiver::accept(channel, &Identity::from_byte(2), &Identity::from_byte(1).did())
}

/// Signs a changed envelope again, as a dishonest sender could: hash, size and signature match the new content.
fn signed_again(binding: &ChannelBinding, mut envelope: Envelope) -> Envelope {
    let (draft, suite) = (EnvelopeDraft::new(&envelope.meta), envelope.meta.suite);
    let sealed = std::mem::take(&mut envelope.sealed);
    draft.sign(suite, sealed, &binding.associated_data(&draft), &Identity::from_byte(1)).unwrap()
}

/// Signs a changed channel again with the sender's key, as a dishonest sender could.
fn signed_as_it_is(mut channel: Channel) -> Channel {
    let Channel { id, sender, recipient, sealing_version, .. } = channel;
    let draft = ChannelDraft { id, sender, recipient };
    let binding = ChannelBinding::new(&draft, sealing_version, &channel.encapsulation);
    channel.signature = Identity::from_byte(1).sign(&binding.statement()).unwrap();
    channel
}

fn is_refused(receiver: &ChannelReceiver, envelope: &Envelope) -> bool {
    receiver.open(envelope) == Err(WalletError::NotOpenable)
}

/// Tests that fixed inputs always give the same bytes, because stored envelopes must stay readable. An independent
/// program computed the expected bytes. The program also reproduces the published vectors of X-Wing and of HPKE's
/// exporter.
#[test]
fn a_channel_with_fixed_randomness_never_changes() {
    let (sender, channel) = begun(9);
    let digest = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
    assert_eq!(channel.encapsulation.len(), 1120);
    assert_eq!(digest(&channel.encapsulation), ENCAPSULATION);
    assert_eq!(hex::encode(**sender.secret), SECRET);
    assert_eq!(digest(&channel.signature), CHANNEL_SIGNATURE);
    let receiver = accepted(&channel).unwrap();
    for (sealed, signature) in PINNED {
        let envelope = sender.seal(&draft(), MESSAGE, &Identity::from_byte(1)).unwrap();
        assert_eq!(hex::encode(&envelope.sealed), sealed);
        assert_eq!(digest(&envelope.signature), signature);
        assert_eq!(*receiver.open(&envelope).unwrap(), MESSAGE);
    }
}

/// Tests the associated data of an envelope with context in a channel. An independent program computed the expected
/// bytes from the encapsulation above.
#[test]
fn an_envelope_with_context_in_a_channel_never_changes() {
    let (sender, channel) = begun(9);
    let context = MessageContext {
        thread: ThreadId::parse("order:7").ok(),
        reply_to: "env_00000000000000000000000001".parse().ok(),
        message_type: MessageType::parse("text/plain").ok(),
    };
    let draft = EnvelopeDraft { context, ..draft() };
    let envelope = sender.seal(&draft, MESSAGE, &Identity::from_byte(1)).unwrap();
    assert_eq!(hex::encode(&envelope.sealed), PINNED_WITH_CONTEXT.0);
    assert_eq!(hex::encode(Sha256::digest(envelope.signature)), PINNED_WITH_CONTEXT.1);
    assert_eq!(*accepted(&channel).unwrap().open(&envelope).unwrap(), MESSAGE);
}

#[test]
fn the_cipher_authenticates_every_bit_after_a_new_signature() {
    let (sender, channel) = begun(9);
    let receiver = accepted(&channel).unwrap();
    let envelope = sender.seal(&draft(), MESSAGE, &Identity::from_byte(1)).unwrap();
    assert!(!is_refused(&receiver, &signed_again(&receiver.binding, envelope.clone())));
    for bit in 0..envelope.sealed.len() * 8 {
        let mut changed = envelope.clone();
        changed.sealed[bit / 8] ^= 1 << (bit % 8);
        assert!(is_refused(&receiver, &signed_again(&receiver.binding, changed)), "bit {bit}");
    }
    for length in 0..envelope.sealed.len() {
        let mut cut = envelope.clone();
        cut.sealed.truncate(length);
        assert!(is_refused(&receiver, &signed_again(&receiver.binding, cut)), "{length}");
    }
}

#[test]
fn the_cipher_authenticates_metadata_after_a_new_signature() {
    let (sender, channel) = begun(9);
    let receiver = accepted(&channel).unwrap();
    let edits: [fn(&mut Envelope); 6] = [
        |it| it.meta.id = "env_01h455vb4pex5vsknk084sn02r".parse().unwrap(),
        |it| it.meta.sender = RECIPIENT.parse().unwrap(),
        |it| it.meta.recipient = SENDER.parse().unwrap(),
        |it| it.meta.timestamp = Timestamp::from_millis(1_767_225_600_008),
        |it| it.meta.suite = Suite::Hybrid,
        |it| it.meta.context.thread = ThreadId::parse("order:7").ok(),
    ];
    for edit in edits {
        let mut changed = sender.seal(&draft(), MESSAGE, &Identity::from_byte(1)).unwrap();
        edit(&mut changed);
        assert!(is_refused(&receiver, &signed_again(&receiver.binding, changed)));
    }
}

/// Tests that the recipient cannot forge an envelope of the sender. The recipient knows the channel's secret, but not
/// the sender's signing key.
#[test]
fn the_secret_alone_cannot_forge_the_sender() {
    let (sender, channel) = begun(9);
    let receiver = accepted(&channel).unwrap();
    let forged = sender.seal(&draft(), b"I owe you.", &Identity::from_byte(2)).unwrap();
    assert!(is_refused(&receiver, &forged));
    let mut borrowed = forged;
    let genuine = sender.seal(&draft(), MESSAGE, &Identity::from_byte(1)).unwrap();
    borrowed.signature = genuine.signature;
    assert!(is_refused(&receiver, &borrowed));
}

/// Tests that the signature of an envelope covers the channel's digest. Otherwise a sender could later replace the
/// stored channel, so that the signed envelope contains another message.
#[test]
fn an_envelope_opens_only_under_its_own_encapsulation() {
    let (sender, channel) = begun(9);
    let (other_sender, other) = begun(8);
    assert_eq!(channel.id, other.id);
    let (receiver, exchanged) = (accepted(&channel).unwrap(), accepted(&other).unwrap());
    let envelope = sender.seal(&draft(), MESSAGE, &Identity::from_byte(1)).unwrap();
    assert!(!is_refused(&receiver, &envelope));
    assert!(is_refused(&exchanged, &envelope));
    assert!(is_refused(&exchanged, &signed_again(&exchanged.binding, envelope)));
    let envelope = other_sender.seal(&draft(), MESSAGE, &Identity::from_byte(1)).unwrap();
    assert!(is_refused(&receiver, &signed_again(&receiver.binding, envelope)));
}

/// An envelope is bound to its encapsulation twice: by the signature and by the associated data of the cipher. Tests
/// that each binding suffices without the other.
#[test]
fn signature_and_cipher_both_authenticate_the_digest() {
    let (sender, channel) = begun(9);
    let mut receiver = accepted(&channel).unwrap();
    let envelope = sender.seal(&draft(), MESSAGE, &Identity::from_byte(1)).unwrap();
    let right = ChannelBinding::new(&channel_draft(), 3, &channel.encapsulation);
    receiver.binding = ChannelBinding::new(&channel_draft(), 3, &begun(8).1.encapsulation);
    assert!(is_refused(&receiver, &envelope), "the secret is right and the signature is not");
    assert!(is_refused(&receiver, &signed_again(&receiver.binding, envelope.clone())));
    receiver.binding = right;
    assert!(!is_refused(&receiver, &envelope));
}

#[test]
fn any_changed_part_of_a_stored_channel_is_rejected() {
    let (_, channel) = begun(9);
    let edits: [fn(&mut Channel); 7] = [
        |it| it.id = "chn_01h455vb4pex5vsknk084sn02r".parse().unwrap(),
        |it| it.sender = RECIPIENT.parse().unwrap(),
        |it| it.recipient = SENDER.parse().unwrap(),
        |it| it.sealing_version = 2,
        |it| it.encapsulation[0] ^= 1,
        |it| it.encapsulation[1119] ^= 0x80,
        |it| it.signature[0] ^= 1,
    ];
    assert!(accepted(&channel).is_ok());
    for edit in edits {
        let mut changed = channel.clone();
        edit(&mut changed);
        assert_eq!(accepted(&changed).map(drop), Err(WalletError::NotOpenable), "{changed:?}");
    }
    for length in [0, 32, 1119, 1121] {
        let mut changed = channel.clone();
        changed.encapsulation.resize(length, 0);
        let changed = signed_as_it_is(changed);
        assert_eq!(accepted(&changed).map(drop), Err(WalletError::NotOpenable), "{length}");
    }
}

/// Tests that a channel with a changed field and a new signature gives another secret. X-Wing and HPKE's key schedule
/// depend on every field.
#[test]
fn a_changed_and_resigned_channel_has_another_secret() {
    let (sender, channel) = begun(9);
    let edits: [fn(&mut Channel); 6] = [
        |it| it.id = "chn_01h455vb4pex5vsknk084sn02r".parse().unwrap(),
        |it| it.sender = RECIPIENT.parse().unwrap(),
        |it| it.recipient = SENDER.parse().unwrap(),
        |it| it.sealing_version = 2,
        |it| it.encapsulation[0] ^= 1,
        |it| it.encapsulation[1119] ^= 0x80,
    ];
    assert_eq!(accepted(&channel).unwrap().secret, sender.secret);
    for edit in edits {
        let mut changed = channel.clone();
        edit(&mut changed);
        let changed = signed_as_it_is(changed);
        assert_ne!(accepted(&changed).unwrap().secret, sender.secret, "{changed:?}");
    }
}

#[test]
fn signatures_of_channels_and_envelopes_are_separate() {
    let (_, mut channel) = begun(9);
    let binding = ChannelBinding::new(&channel_draft(), 3, &channel.encapsulation);
    let hash = EnvelopeHash(Sha256::digest(binding.statement()).into());
    channel.signature = Identity::from_byte(1).sign(&hash.0).unwrap();
    assert!(accepted(&channel).is_err());
    channel.signature =
        Identity::from_byte(1).sign(&binding.statement()["sealpost/".len()..]).unwrap();
    assert!(accepted(&channel).is_err());
}

/// Tests that two envelopes of a channel get different numbers, even if they have the same id. The number is the nonce.
#[test]
fn sealing_a_draft_twice_uses_different_nonces() {
    let (sender, channel) = begun(9);
    let seal = || sender.seal(&draft(), MESSAGE, &Identity::from_byte(1)).unwrap();
    let (first, second) = (seal(), seal());
    assert_eq!(first.sealed[..18], second.sealed[..18]);
    assert_ne!(first.sealed[18..22], second.sealed[18..22]);
    // Under the same nonce the key stream and therefore these bytes would be equal.
    assert_ne!(first.sealed[22..38], second.sealed[22..38]);
    let receiver = accepted(&channel).unwrap();
    assert!(!is_refused(&receiver, &first) && !is_refused(&receiver, &second));
}

const ENCAPSULATION: &str = "526beb6dad975606c94fe429f0ff1605c62b8e1f0b888557943d40cc7bf60124";
const SECRET: &str = "5ecb12a070dfdc3d01016297d10216ad621df8fed8fe713d45db10b30ae65516";
const CHANNEL_SIGNATURE: &str = "0db6b11e431ed072abc7651c6dfee18b51c866daf644b33ae35a4aa2f77bb55d";

/// The expected sealed bytes of an envelope with context, and the digest of its signature.
const PINNED_WITH_CONTEXT: (&str, &str) = (
    "010301890a5dac96774bbcceb302099a805700000000cf317cfb9b1cbe61fcd7b93211fbd4ce888ee27447a1cf48f7e85637d25e2f4f7f8ace5cecf39fd549cce9",
    "2ec80695731c829853178dd159e5ccf12843224acd5ffec3996b650cc78dcc5f",
);

/// The expected sealed bytes of the first two envelopes, and the digests of their signatures.
const PINNED: [(&str, &str); 2] = [
    (
        "010301890a5dac96774bbcceb302099a805700000000cf317cfb9b1cbe61fcd7b93211fbd4ce888ee27447a1cf48f7e8560ba53d27b11be5df918b813270e566e8",
        "7702a54b87d12286497a00b85215d540a37ff10268a3a42f834f6f4879907d90",
    ),
    (
        "010301890a5dac96774bbcceb302099a8057000000014e99cb877c695640efd65042233615c76d7aca8e5e616023f8082b02278a2006ae03ab2dc4c7203a34d394",
        "a701a72e510e4ce2982f86c0d37534771a18493c5b4685704657514beb0a1351",
    ),
];
