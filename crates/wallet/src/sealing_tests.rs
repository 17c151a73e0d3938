//! What an attacker can try who does more than flip bits: hash again, sign again, replay. The black-box tests are in
//! `tests/envelopes.rs`.

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

/// The sender itself changed the envelope: hash, size and signature hold for what is there now.
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

/// Envelopes that were stored once must open for ever: these bytes may not change. Those of the classic suite, and
/// both signatures, were computed apart from this code.
#[test]
fn an_envelope_of_fixed_randomness_is_always_the_same() {
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
fn every_bit_is_held_by_hpke_too_when_the_sender_signs_again() {
    let envelope = sealed(Suite::Classic);
    for bit in 0..envelope.sealed.len() * 8 {
        let mut changed = envelope.clone();
        changed.sealed[bit / 8] ^= 1 << (bit % 8);
        // X25519 ignores the highest bit of a public key (RFC 7748, section 5); HPKE hashes it in all the same.
        assert!(is_refused(&signed_again(changed)), "bit {bit}");
    }
}

#[test]
fn any_byte_of_a_hybrid_envelope_is_held_by_hpke_too() {
    let envelope = sealed(Suite::Hybrid);
    for place in (0..envelope.sealed.len()).step_by(13).chain(0..6) {
        let mut changed = envelope.clone();
        changed.sealed[place] ^= 0x10;
        assert!(is_refused(&signed_again(changed)), "byte {place}");
    }
}

#[test]
fn metadata_is_held_by_hpke_too_when_the_sender_signs_again() {
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
fn a_truncated_envelope_is_refused_and_nothing_panics() {
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
    fn rubbish_is_refused_whoever_signed_it(
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
fn a_signature_means_nothing_without_its_first_words() {
    let mut envelope = sealed(Suite::Classic);
    let aad = draft().associated_data();
    let bare = [envelope.meta.hash.0.as_slice(), &aad].concat();
    envelope.signature = Identity::of(1).sign(&bare).unwrap();
    assert!(is_refused(&envelope));
}

/// X25519 with a public key of small order gives zero: RFC 9180, section 7.1.4, wants that refused.
#[test]
fn an_encapsulation_of_small_order_is_refused() {
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
