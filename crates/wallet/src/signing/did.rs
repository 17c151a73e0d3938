//! `did:key` of Ed25519 keys (W3C did:key method): multicodec `ed 01` and the 32-byte key, in
//! base58btc after `z`. Parsing is strict, so that each key has exactly one DID.

use ed25519_dalek::VerifyingKey;
use sealpost_domain::Did;

use crate::WalletError;

/// Returns the Ed25519 public key of a `did:key`. Fails with [`WalletError::InvalidDid`] if the DID is not canonical,
/// or if the key has a small order.
pub fn public_key_of(did: &Did) -> Result<[u8; 32], WalletError> {
    parse(did).map(|key| key.to_bytes())
}

pub(crate) fn encode(key: &VerifyingKey) -> Did {
    Did::new(format!("{METHOD}{}", multibase(key.as_bytes())))
}

/// Returns an Ed25519 key in the form of `publicKeyMultibase` (W3C Controlled Identifiers 1.0, section 2.2.2).
pub(crate) fn multibase(key: &[u8; 32]) -> String {
    let mut bytes = [0; KEY_END];
    let (codec, raw) = bytes.split_at_mut(MULTICODEC.len());
    codec.copy_from_slice(&MULTICODEC);
    raw.copy_from_slice(key);
    format!("{BASE58}{}", bs58::encode(bytes).into_string())
}

pub(crate) fn parse(did: &Did) -> Result<VerifyingKey, WalletError> {
    decode(did.as_str()).ok_or(WalletError::InvalidDid)
}

fn decode(text: &str) -> Option<VerifyingKey> {
    let mut bytes = [0; KEY_END];
    let encoded = text.strip_prefix(METHOD)?.strip_prefix(BASE58)?;
    let length = bs58::decode(encoded).onto(&mut bytes).ok()?;
    let raw = bytes.get(..length)?.strip_prefix(&MULTICODEC)?.try_into().ok()?;
    let key = VerifyingKey::from_bytes(raw).ok()?;
    // Rejects non-canonical encodings, so that each key has one DID. Also rejects keys of small order, because one
    // signature under such a key is valid for many statements.
    let is_canonical = key.to_edwards().compress().as_bytes() == raw;
    (is_canonical && !key.is_weak()).then_some(key)
}

const METHOD: &str = "did:key:";
/// The multibase prefix of base58btc.
const BASE58: char = 'z';
const MULTICODEC: [u8; 2] = [0xed, 0x01];
const KEY_END: usize = 34;

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use proptest::prelude::*;

    use super::*;

    /// Tests the DIDs of four seeds: the private keys of RFC 8032, section 7.1, tests 1 to 3, and 32 bytes of value 7.
    /// The expected DIDs come from other publications.
    #[test]
    fn published_seeds_give_the_published_dids() {
        for (seed, did) in [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw",
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "did:key:z6MkiaMbhXHNA4eJVCCj8dbzKzTgYDKf6crKgHVHid1F1WCT",
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "did:key:z6MkwSD8dBdqcXQzKJZQFPy2hh2izzxskndKCjdmC2dBpfME",
            ),
            (
                "0707070707070707070707070707070707070707070707070707070707070707",
                "did:key:z6MkvDqGT54cXesYGvABpF1UapVNwjCqRcafi4Px6Thv5T3Z",
            ),
        ] {
            let seed = hex::decode(seed).unwrap().try_into().unwrap();
            let key = SigningKey::from_bytes(&seed).verifying_key();
            assert_eq!(encode(&key).as_str(), did);
            assert_eq!(parse(&Did::new(did.to_owned())), Ok(key));
        }
    }

    /// Tests the Ed25519 examples of the did:key specification.
    #[test]
    fn the_examples_of_the_specification_survive_a_round_trip() {
        for text in [
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
            "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
            "did:key:z6MkjchhfUsD6mmvni8mCdXHw216Xrm9bQe2mBH1P5RDjVJG",
            "did:key:z6MknGc3ocHs3zdPiJbnaaqDi58NGb4pk1Sp9WxWufuXSdxf",
        ] {
            let key = parse(&Did::new(text.to_owned())).unwrap();
            assert_eq!(encode(&key).as_str(), text);
        }
    }

    #[test]
    fn texts_other_than_ed25519_dids_are_rejected() {
        let of = |bytes: &[u8]| format!("{METHOD}{BASE58}{}", bs58::encode(bytes).into_string());
        let key = SigningKey::from_bytes(&[7; 32]).verifying_key().to_bytes();
        let mut neutral = [0; 32];
        neutral[0] = 1;
        // A small y coordinate plus the modulus 2^255 - 19: a non-canonical encoding of a valid
        // key.
        let uncanonical = (0xed..=0xff).map(|low| {
            let mut y = [0xff; 32];
            (y[0], y[31]) = (low, 0x7f);
            y
        });
        let uncanonical = uncanonical
            .into_iter()
            .find(|y| VerifyingKey::from_bytes(y).is_ok_and(|key| !key.is_weak()))
            .unwrap();
        let no_point = (2..=255).map(|y| [y; 32]).find(|y| VerifyingKey::from_bytes(y).is_err());
        for text in [
            String::new(),
            "did:key:".to_owned(),
            "did:web:example.org".to_owned(),
            "did:key:z6LSj72tK8brWgZja8NLRwPigth2T9QRiG1uH9oKZuKjdh9p".to_owned(),
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK ".to_owned(),
            "did:key:z16MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK".to_owned(),
            "DID:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK".to_owned(),
            format!("did:key:z{}", "6".repeat(10_000)),
            of(&[&MULTICODEC, key.as_slice(), &[0]].concat()),
            of(&[&MULTICODEC, &key[..31]].concat()),
            of(&[&[0xed_u8, 0x02], key.as_slice()].concat()),
            of(&[&MULTICODEC, neutral.as_slice()].concat()),
            of(&[&MULTICODEC, uncanonical.as_slice()].concat()),
            of(&[&MULTICODEC, no_point.unwrap().as_slice()].concat()),
        ] {
            assert_eq!(parse(&Did::new(text.clone())), Err(WalletError::InvalidDid), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_accepted_text_is_canonical(text in "did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}") {
            let did = Did::new(text);
            if let Ok(key) = parse(&did) {
                prop_assert_eq!(encode(&key), did);
            }
        }
    }
}
