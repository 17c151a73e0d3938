//! Tests that envelopes keep their bytes, and that changed or malformed envelopes are refused, even with a new hash and
//! signature. `tests/envelopes.rs` tests the public interface.

use proptest::prelude::*;
use sealpost_domain::{MessageType, ThreadId};

use super::*;

const SUITES: [Suite; 2] = [Suite::Classic, Suite::Hybrid];
const MESSAGE: &[u8] = b"Meet me at the usual place.";

fn draft() -> EnvelopeDraft {
    EnvelopeDraft {
        id: "env_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        sender: "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        recipient: "ak_00000000000000000000000001".parse().unwrap(),
        timestamp: Timestamp::from_millis(1_767_225_600_007),
        context: MessageContext::default(),
    }
}

fn sealed(suite: Suite) -> Envelope {
    sealed_from(suite, &draft())
}

fn sealed_from(suite: Suite, draft: &EnvelopeDraft) -> Envelope {
    let key = Identity::from_byte(2).sealing_public_key(suite, 3).unwrap();
    seal_with(draft, MESSAGE, &Identity::from_byte(1), &key, &mut Entropy::new([9; 64])).unwrap()
}

fn context(thread: &str, reply_to: &str, message_type: &str) -> MessageContext {
    MessageContext {
        thread: ThreadId::parse(thread).ok(),
        reply_to: reply_to.parse().ok(),
        message_type: MessageType::parse(message_type).ok(),
    }
}

/// Signs a changed envelope again, as a dishonest sender could: hash, size and signature match the new content.
fn signed_again(mut envelope: Envelope) -> Envelope {
    envelope.meta.hash = hash(&envelope.sealed);
    envelope.meta.payload_size_bytes = size(&envelope.sealed).unwrap();
    let aad = EnvelopeDraft::new(&envelope.meta).associated_data();
    let statement = statement(&envelope.meta.hash, &aad);
    envelope.signature = Identity::from_byte(1).sign(&statement).unwrap();
    envelope
}

fn is_refused(envelope: &Envelope) -> bool {
    open(envelope, &Identity::from_byte(2), &Identity::from_byte(1).did())
        == Err(WalletError::NotOpenable)
}

/// Tests that fixed inputs always give the same bytes, because stored envelopes must stay readable. An independent
/// program computed the bytes of the classic suite, and the signatures of both suites.
#[test]
fn an_envelope_with_fixed_randomness_never_changes() {
    for (suite, size, digest, signature) in PINNED {
        let envelope = sealed(suite);
        assert_eq!(envelope.sealed.len(), size);
        assert_eq!(envelope.sealed[..6], [1, suite.byte(), 0, 0, 0, 3]);
        assert_eq!(envelope.meta.hash.to_string(), digest);
        assert_eq!(hex::encode(Sha256::digest(envelope.signature)), signature);
        let message =
            open(&envelope, &Identity::from_byte(2), &Identity::from_byte(1).did()).unwrap();
        assert_eq!(*message, MESSAGE);
    }
}

/// Tests the associated data of envelopes with context. An independent program computed the expected bytes. The program
/// also reproduces the pinned envelope without context.
#[test]
fn an_envelope_with_context_never_changes() {
    for ((thread, reply_to, message_type), digest, signature) in PINNED_WITH_CONTEXT {
        let draft = EnvelopeDraft { context: context(thread, reply_to, message_type), ..draft() };
        let envelope = sealed_from(Suite::Classic, &draft);
        assert_eq!(envelope.meta.hash.to_string(), digest);
        assert_eq!(hex::encode(Sha256::digest(envelope.signature)), signature);
        let message =
            open(&envelope, &Identity::from_byte(2), &Identity::from_byte(1).did()).unwrap();
        assert_eq!(*message, MESSAGE);
    }
}

/// Tests that each member of a context is bound to its own name, and cannot be added, changed, moved or removed.
#[test]
fn hpke_authenticates_the_context_after_a_new_signature() {
    let all = context("order", REPLIED, "order");
    let contexts = [
        MessageContext::default(),
        context("order", "", ""),
        context("", "", "order"),
        context("", REPLIED, ""),
        context("order", REPLIED, ""),
        context("orders", REPLIED, "order"),
        context("order", "env_00000000000000000000000002", "order"),
        all.clone(),
    ];
    for suite in SUITES {
        for context in &contexts {
            for other in contexts.iter().filter(|other| *other != context) {
                let draft = EnvelopeDraft { context: context.clone(), ..draft() };
                let mut envelope = sealed_from(suite, &draft);
                assert!(!is_refused(&envelope));
                envelope.meta.context = other.clone();
                assert!(is_refused(&envelope), "{context:?} as {other:?}");
                assert!(is_refused(&signed_again(envelope)), "{context:?} as {other:?}");
            }
        }
    }
}

#[test]
fn hpke_authenticates_every_bit_after_a_new_signature() {
    let envelope = sealed(Suite::Classic);
    for bit in 0..envelope.sealed.len() * 8 {
        let mut changed = envelope.clone();
        changed.sealed[bit / 8] ^= 1 << (bit % 8);
        // X25519 ignores the highest bit of a public key (RFC 7748, section 5), but HPKE hashes
        // this bit too.
        assert!(is_refused(&signed_again(changed)), "bit {bit}");
    }
}

#[test]
fn hpke_authenticates_every_byte_of_a_hybrid_envelope() {
    let envelope = sealed(Suite::Hybrid);
    for place in (0..envelope.sealed.len()).step_by(13).chain(0..6) {
        let mut changed = envelope.clone();
        changed.sealed[place] ^= 0x10;
        assert!(is_refused(&signed_again(changed)), "byte {place}");
    }
}

#[test]
fn hpke_authenticates_metadata_after_a_new_signature() {
    for suite in SUITES {
        let edits: [fn(&mut EnvelopeMeta); 5] = [
            |meta| meta.id = "env_01h455vb4pex5vsknk084sn02r".parse().unwrap(),
            |meta| meta.sender = "ak_01h455vb4pex5vsknk084sn02r".parse().unwrap(),
            |meta| meta.recipient = "ak_00000000000000000000000002".parse().unwrap(),
            |meta| meta.timestamp = Timestamp::from_millis(1_767_225_600_008),
            |meta| {
                meta.suite =
                    if meta.suite == Suite::Classic { Suite::Hybrid } else { Suite::Classic }
            },
        ];
        for edit in edits {
            let mut changed = sealed(suite);
            edit(&mut changed.meta);
            assert!(is_refused(&signed_again(changed)));
        }
        assert!(!is_refused(&signed_again(sealed(suite))));
    }
}

#[test]
fn a_truncated_envelope_is_rejected_without_a_panic() {
    for suite in SUITES {
        let envelope = sealed(suite);
        for length in 0..envelope.sealed.len() {
            let mut cut = envelope.clone();
            cut.sealed.truncate(length);
            assert!(is_refused(&signed_again(cut)), "{length}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_bytes_are_rejected_even_if_signed(
        classic in any::<bool>(),
        rest in prop::collection::vec(any::<u8>(), 0..1300),
    ) {
        let suite = if classic { Suite::Classic } else { Suite::Hybrid };
        let mut envelope = sealed(suite);
        envelope.sealed.truncate(HEADER_LEN);
        envelope.sealed.extend(rest);
        prop_assert!(is_refused(&signed_again(envelope)));
    }
}

#[test]
fn a_signature_without_the_prefix_is_rejected() {
    let mut envelope = sealed(Suite::Classic);
    let aad = draft().associated_data();
    let bare = [envelope.meta.hash.0.as_slice(), &aad].concat();
    envelope.signature = Identity::from_byte(1).sign(&bare).unwrap();
    assert!(is_refused(&envelope));
}

/// Tests an encapsulation with an X25519 public key of small order. The result of X25519 is then zero, which RFC 9180,
/// section 7.1.4, rejects.
#[test]
fn an_encapsulation_of_small_order_is_rejected() {
    let mut envelope = sealed(Suite::Classic);
    envelope.sealed[HEADER_LEN..HEADER_LEN + 32].fill(0);
    assert!(is_refused(&signed_again(envelope)));
}

const REPLIED: &str = "env_00000000000000000000000001";

/// Each entry contains the context (thread, id of the envelope that is replied to, message type), the hash of the
/// sealed bytes, and the digest of the signature.
const PINNED_WITH_CONTEXT: [((&str, &str, &str), &str, &str); 3] = [
    (
        ("order:7", REPLIED, "text/plain"),
        "sha256:8f0c4a941a564c24fcf093da30aa32adcfa0d959696310bf275440d0f442b02e",
        "b74d3875076adc287d33f78dab3298dae0db72ea28061405dc379c8aa94764ea",
    ),
    (
        ("", "", "text/plain"),
        "sha256:4e90d3f9bab4d30589df266181d93c1d9e1d6d7b7a26e3b2d8110295b8dbfefe",
        "b51287f34abbda7d4d422501e440ddbbc2dec9c20aeee3c36c0ea1f4fd17a81e",
    ),
    (
        ("order:7", "", ""),
        "sha256:b51daa71c0a3cda15a43c6c684bf0af1538555dad4420fae53cafec7003fbe87",
        "0436b4c08c8254d3722fa4f2ce281614f515e902e65b79a143b413d74d2ee64a",
    ),
];

const PINNED: [(Suite, usize, &str, &str); 2] = [
    (
        Suite::Classic,
        81,
        "sha256:17677e777f51ef88d40d1c5275f664f3388bbe117bfbad83ecb8a7158c6e2743",
        "fcdced4b12560f05b5ca3fd70937141c6b0bdf25f8f4acf2a4c13bbb2bea715e",
    ),
    (
        Suite::Hybrid,
        1169,
        "sha256:e59cdddc5bebce1a9e9b690afb5fe71a7e5df7bb62b25cb02149d788b11a3f49",
        "349357393ca784adba6b6fdd428557f8144badcf25617d2526a38dadd87b69ec",
    ),
];
