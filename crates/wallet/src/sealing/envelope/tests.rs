//! Tests attacks on envelopes: new hashes, new signatures and replays. `tests/envelopes.rs` tests the public interface.

use proptest::prelude::*;

use super::*;

const SUITES: [Suite; 2] = [Suite::Classic, Suite::Hybrid];
const MESSAGE: &[u8] = b"Meet me at the usual place.";

fn draft() -> EnvelopeDraft {
    EnvelopeDraft {
        id: "env_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        sender: "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        recipient: "ak_00000000000000000000000001".parse().unwrap(),
        timestamp: Timestamp::from_millis(1_767_225_600_007),
    }
}

fn sealed(suite: Suite) -> Envelope {
    let key = Identity::of(2).sealing_public_key(suite, 3).unwrap();
    seal_with(&draft(), MESSAGE, &Identity::of(1), &key, &mut Entropy::of([9; 64])).unwrap()
}

/// Signs a changed envelope again, as a dishonest sender could: hash, size and signature match the new content.
fn signed_again(mut envelope: Envelope) -> Envelope {
    envelope.meta.hash = hash(&envelope.sealed);
    envelope.meta.payload_size_bytes = size(&envelope.sealed).unwrap();
    let aad = EnvelopeDraft::of(&envelope.meta).associated_data();
    let statement = statement(&envelope.meta.hash, &aad);
    envelope.signature = Identity::of(1).sign(&statement).unwrap();
    envelope
}

fn is_refused(envelope: &Envelope) -> bool {
    open(envelope, &Identity::of(2), &Identity::of(1).did()) == Err(WalletError::NotOpenable)
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
        let message = open(&envelope, &Identity::of(2), &Identity::of(1).did()).unwrap();
        assert_eq!(*message, MESSAGE);
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
    envelope.signature = Identity::of(1).sign(&bare).unwrap();
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
