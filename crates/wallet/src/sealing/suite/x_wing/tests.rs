//! Compares the two implementations of X-Wing function by function. The module `vectors` tests the published vectors
//! with the implementation that the processor supports. In a debug build, the environment variable
//! `GRAVIOLA_CPU_DISABLE_aes` selects the portable implementation for all tests.

use proptest::prelude::*;

use super::*;
use crate::entropy::Entropy;

/// Parses the seed as a private key of the portable implementation. If the processor supports the fast implementation,
/// also parses the seed as a private key of that implementation.
fn private_keys(seed: [u8; 32]) -> Vec<PrivateKey> {
    let portable = <Portable as Kem>::PrivateKey::from_bytes(&seed).unwrap();
    let fast = fast::PrivateKey::new(&seed).filter(|_| fast::is_available());
    [PrivateKey::Portable(Box::new(portable))]
        .into_iter()
        .chain(fast.map(PrivateKey::Fast))
        .collect()
}

fn encapsulated(key: &PublicKey, randomness: [u8; 64]) -> ([u8; 32], Encapsulation) {
    let mut entropy = Entropy::new(randomness);
    let (secret, encapsulation) = XWing::encap_with_rng(key, None, &mut entropy).unwrap();
    assert!(!entropy.is_exhausted());
    (secret.0.0, encapsulation)
}

fn decapsulated(key: &PrivateKey, encapsulation: &[u8; 1120]) -> [u8; 32] {
    let encapsulation = Encapsulation::from_bytes(encapsulation).unwrap();
    XWing::decap(key, None, &encapsulation).unwrap().0.0
}

/// Checks that all implementations give the same keys, encapsulations and secrets, both as sender and as recipient.
fn assert_all_agree(seed: [u8; 32], randomness: [u8; 64]) {
    let private = private_keys(seed);
    let public: Vec<_> = private.iter().map(XWing::sk_to_pk).collect();
    let (secret, encapsulation) = encapsulated(&public[0], randomness);
    for key in &public {
        assert_eq!(key.to_bytes(), public[0].to_bytes());
        let (same_secret, same_encapsulation) = encapsulated(key, randomness);
        assert_eq!(same_encapsulation.to_bytes(), encapsulation.to_bytes());
        assert_eq!(same_secret, secret);
    }
    for key in &private {
        assert_eq!(decapsulated(key, &encapsulation.to_bytes().0), secret);
    }
}

fn assert_all_decapsulate_alike(seed: [u8; 32], encapsulation: &[u8; 1120]) {
    let keys = private_keys(seed);
    for key in &keys {
        assert_eq!(decapsulated(key, encapsulation), decapsulated(&keys[0], encapsulation));
    }
}

proptest! {
    #[test]
    fn all_implementations_give_the_same_bytes(
        seed: [u8; 32],
        first_half: [u8; 32],
        second_half: [u8; 32],
    ) {
        let mut randomness = [0; 64];
        randomness[..32].copy_from_slice(&first_half);
        randomness[32..].copy_from_slice(&second_half);
        assert_all_agree(seed, randomness);
    }

    /// Tests that a changed encapsulation gives the same implicit rejection secret (FIPS 203, section 6.3) in all
    /// implementations.
    #[test]
    fn all_implementations_reject_a_changed_encapsulation_alike(
        seed: [u8; 32],
        place in 0_usize..1120,
        change in 1_u8..,
    ) {
        let private = &private_keys(seed)[0];
        let (secret, encapsulation) = encapsulated(&XWing::sk_to_pk(private), [9; 64]);
        let mut changed = encapsulation.to_bytes().0;
        changed[place] ^= change;
        assert_all_decapsulate_alike(seed, &changed);
        // X25519 ignores the highest bit of a public key, but X-Wing hashes this bit.
        prop_assert_ne!(decapsulated(private, &changed), secret);
    }
}

#[test]
fn extreme_inputs_give_the_same_bytes() {
    for seed in [[0; 32], [0xff; 32]] {
        for randomness in [[0; 64], [0xff; 64]] {
            assert_all_agree(seed, randomness);
        }
    }
    for encapsulation in [[0; 1120], [0xff; 1120]] {
        assert_all_decapsulate_alike([7; 32], &encapsulation);
    }
}

/// Tests X25519 public keys of small order, which give zero. X-Wing hashes zero like any other result. RFC 7748 leaves
/// the rejection of zero to protocols.
#[test]
fn x25519_keys_of_small_order_give_the_same_bytes() {
    let order_8 = "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800";
    let order_8: [u8; 32] = hex::decode(order_8).unwrap().try_into().unwrap();
    for point in [[0; 32], order_8] {
        let mut encapsulation = [3; 1120];
        encapsulation[1088..].copy_from_slice(&point);
        assert_all_decapsulate_alike([7; 32], &encapsulation);

        let mut key = XWing::sk_to_pk(&private_keys([7; 32])[0]).to_bytes().0;
        key[1184..].copy_from_slice(&point);
        let portable = <Portable as Kem>::PublicKey::from_bytes(&key).unwrap();
        let (secret, encapsulation) =
            encapsulated(&PublicKey::Portable(Box::new(portable)), [9; 64]);
        let (same_secret, same) = encapsulated(&PublicKey::from_bytes(&key).unwrap(), [9; 64]);
        assert_eq!((same_secret, same.to_bytes()), (secret, encapsulation.to_bytes()));
    }
}

/// Tests a public key with the coefficient 3,329, which is not reduced modulo 3,329. FIPS 203, section 7.2, forbids
/// such a coefficient.
#[test]
fn a_public_key_that_is_not_reduced_is_rejected() {
    let key = XWing::sk_to_pk(&private_keys([7; 32])[0]).to_bytes().0;
    assert!(PublicKey::from_bytes(&key).is_ok());
    for place in [0, 600, 1149] {
        let mut changed = key;
        changed[place] = 0x01;
        changed[place + 1] = changed[place + 1] & 0xf0 | 0x0d;
        assert_eq!(PublicKey::from_bytes(&changed), Err(HpkeError::ValidationError), "{place}");
        if fast::is_available() {
            assert!(fast::PublicKey::new(&changed).encapsulate(&[9; 64]).is_none(), "{place}");
        }
    }
    assert!(PublicKey::from_bytes(&key[1..]).is_err());
}

#[test]
fn keys_use_the_fast_implementation_if_the_processor_supports_it() {
    let private = PrivateKey::from_bytes(&[7; 32]).unwrap();
    let public = PublicKey::from_bytes(&XWing::sk_to_pk(&private).to_bytes()).unwrap();
    assert_eq!(matches!(private, PrivateKey::Fast(_)), fast::is_available());
    assert_eq!(matches!(public, PublicKey::Fast(_)), fast::is_available());
}

#[test]
fn keys_survive_serialisation() {
    for key in private_keys([7; 32]) {
        let (bytes, public) = (key.to_bytes(), XWing::sk_to_pk(&key));
        assert_eq!(bytes.0, [7; 32]);
        assert!(bool::from(PrivateKey::from_bytes(&bytes).unwrap().ct_eq(&key)));
        assert!(!bool::from(PrivateKey::from_bytes(&[8; 32]).unwrap().ct_eq(&key)));
        assert_eq!(
            PublicKey::from_bytes(&public.to_bytes()).unwrap().to_bytes(),
            public.to_bytes()
        );
    }
    assert!(PrivateKey::from_bytes(&[7; 31]).is_err());
}

/// Tests that the authenticated mode is rejected, because X-Wing has no such mode.
#[test]
fn the_authenticated_mode_is_rejected() {
    for private in private_keys([7; 32]) {
        let public = XWing::sk_to_pk(&private);
        let mut entropy = Entropy::new([9; 64]);
        let sender = Some((&private, &public));
        assert!(XWing::encap_with_rng(&public, sender, &mut entropy).is_err());
        let (_, encapsulation) = encapsulated(&public, [9; 64]);
        assert!(XWing::decap(&private, Some(&public), &encapsulation).is_err());
    }
}
