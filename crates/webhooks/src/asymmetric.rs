//! The service's own signature of a notice: Standard Webhooks 1.0.0, asymmetric (`v1a`). Whoever verifies it needs no
//! secret, so that a receiver cannot have forged what it shows to others. Apart, because receivers use it too.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::{ED25519, UnparsedPublicKey};
use sealpost_domain::{Did, Timestamp, ports::EventSigner};
use sealpost_wallet::public_key_of;

use crate::signature::{Entries, SignedHeaders, VerifyFault, content};

/// One entry of `webhook-signature`: `v1a,` and base64 of the Ed25519 signature over
/// `{webhook_id}.{timestamp}.{body}`, with the timestamp as it is sent.
pub fn entry_v1a(
    signer: &dyn EventSigner,
    webhook_id: &str,
    timestamp: &str,
    body: &[u8],
) -> String {
    let signature = signer.sign_event(&content(webhook_id, timestamp, body));
    format!("{VERSION}{}", STANDARD.encode(signature))
}

/// Believes a notice by the rules of [`verify`](crate::verify), for its `v1a` entries.
pub fn verify_asymmetric(
    key: &VerifyingKey,
    headers: &SignedHeaders<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<(), VerifyFault> {
    let key = UnparsedPublicKey::new(&ED25519, key.0);
    let entries = Entries { version: VERSION, headers, body };
    entries.verify(now, |content, signature| key.verify(content, signature).is_ok())
}

/// The key that `v1a` entries are verified with. Its text is `whpk_` and the padded standard base64 of 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey([u8; LEN]);

/// The text or the bytes are no Ed25519 key that can be trusted to sign one statement at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a verifying key is whpk_ and the base64 of an Ed25519 public key of 32 bytes")]
pub struct VerifyingKeyFault;

impl VerifyingKey {
    /// What its text starts with.
    pub const PREFIX: &'static str = "whpk_";

    /// From the 32 bytes of RFC 8032. The strictness is that of `did:key`: one spelling for each key, and none of
    /// small order, under which one signature would hold for many notices.
    pub fn from_bytes(bytes: [u8; LEN]) -> Result<Self, VerifyingKeyFault> {
        let mut multicodec = MULTICODEC.to_vec();
        multicodec.extend_from_slice(&bytes);
        Self::from_multibase(&format!("z{}", bs58::encode(multicodec).into_string()))
    }

    /// From the form that a Multikey of a DID document has, `z6Mk…`.
    pub fn from_multibase(text: &str) -> Result<Self, VerifyingKeyFault> {
        let key = public_key_of(&Did::new(format!("did:key:{text}")));
        key.map(Self).map_err(|_no_key| VerifyingKeyFault)
    }
}

impl FromStr for VerifyingKey {
    type Err = VerifyingKeyFault;

    fn from_str(text: &str) -> Result<Self, VerifyingKeyFault> {
        let decoded = text.strip_prefix(Self::PREFIX).and_then(|body| STANDARD.decode(body).ok());
        let bytes = decoded.and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or(VerifyingKeyFault).and_then(Self::from_bytes)
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::PREFIX, STANDARD.encode(self.0))
    }
}

const VERSION: &str = "v1a,";
const LEN: usize = 32;
const MULTICODEC: [u8; 2] = [0xed, 0x01];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};

    use super::*;

    struct Signer(Ed25519KeyPair);

    impl Signer {
        fn new(seed: &[u8]) -> Self {
            Self(Ed25519KeyPair::from_seed_unchecked(seed).unwrap())
        }

        fn key(&self) -> VerifyingKey {
            VerifyingKey::from_bytes(self.0.public_key().as_ref().try_into().unwrap()).unwrap()
        }
    }

    impl EventSigner for Signer {
        fn sign_event(&self, content: &[u8]) -> [u8; 64] {
            self.0.sign(content).as_ref().try_into().unwrap()
        }
    }

    fn verify_at(
        signature: &str,
        timestamp: &str,
        body: &[u8],
        now_s: i64,
    ) -> Result<(), VerifyFault> {
        let headers = SignedHeaders { id: "msg_1", timestamp, signature };
        let key = Signer::new(&[7; 32]).key();
        verify_asymmetric(&key, &headers, body, Timestamp::from_millis(now_s * 1000))
    }

    fn sign(timestamp: &str, body: &[u8]) -> String {
        entry_v1a(&Signer::new(&[7; 32]), "msg_1", timestamp, body)
    }

    /// `standard-webhooks/libraries`, Go, `TestAsymmetricWebhookSign`: the private key, id, timestamp, payload and
    /// signature there.
    #[test]
    fn the_published_vector_holds() {
        let seed = STANDARD.decode("VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=").unwrap();
        let signer = Signer::new(&seed);
        let (id, timestamp, body) =
            ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#);
        let signature = entry_v1a(&signer, id, timestamp, body);
        assert_eq!(
            signature,
            "v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag=="
        );
        let headers = SignedHeaders { id, timestamp, signature: &signature };
        let now = Timestamp::from_millis(1_614_265_330_000);
        assert_eq!(verify_asymmetric(&signer.key(), &headers, body, now), Ok(()));
        let other = Signer::new(&[7; 32]).key();
        assert_eq!(verify_asymmetric(&other, &headers, body, now), Err(VerifyFault::NoMatch));
    }

    #[test]
    fn a_time_more_than_five_minutes_away_is_refused() {
        let signature = sign("1000000", b"{}");
        for (now_s, verdict) in [
            (1_000_300, Ok(())),
            (999_700, Ok(())),
            (1_000_301, Err(VerifyFault::Stale)),
            (999_699, Err(VerifyFault::Stale)),
        ] {
            assert_eq!(verify_at(&signature, "1000000", b"{}", now_s), verdict, "{now_s}");
        }
        assert_eq!(
            verify_at(&sign("now", b"{}"), "now", b"{}", 1_000_000),
            Err(VerifyFault::TimestampUnreadable)
        );
    }

    #[test]
    fn any_entry_of_the_list_may_match_but_only_as_v1a() {
        let right = sign("1000000", b"{}");
        let list = format!("v1,AAAA v1a,AAAA junk {right}");
        assert_eq!(verify_at(&list, "1000000", b"{}", 1_000_000), Ok(()));
        for without in [list.replace(&right, ""), right.replace("v1a,", "v1,")] {
            assert_eq!(verify_at(&without, "1000000", b"{}", 1_000_000), Err(VerifyFault::NoMatch));
        }
    }

    /// RFC 8032, section 7.1, test 1, in the three forms that the key is written in.
    #[test]
    fn a_key_has_one_text_that_reads_and_writes_back() {
        let bytes = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let bytes: [u8; 32] = hex::decode(bytes).unwrap().try_into().unwrap();
        let text = "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
        let key: VerifyingKey = text.parse().unwrap();
        assert_eq!(key.to_string(), text);
        assert_eq!(VerifyingKey::from_bytes(bytes), Ok(key));
        let multibase = "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw";
        assert_eq!(VerifyingKey::from_multibase(multibase), Ok(key));
    }

    #[test]
    fn what_is_no_key_or_fits_many_notices_is_refused() {
        let neutral = [[1].as_slice(), &[0; 31]].concat();
        let of = |bytes: &[u8]| format!("whpk_{}", STANDARD.encode(bytes));
        let unpadded = of(&[7; 32]).trim_end_matches('=').to_owned();
        for text in ["", "whpk_", "whpk_%", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"] {
            assert_eq!(text.parse::<VerifyingKey>(), Err(VerifyingKeyFault), "{text}");
        }
        for text in [of(&[1; 31]), of(&[1; 33]), of(&neutral), unpadded] {
            assert_eq!(text.parse::<VerifyingKey>(), Err(VerifyingKeyFault), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_signed_is_believed_and_a_flipped_bit_is_refused(
            body in proptest::collection::vec(any::<u8>(), 1..200),
            place in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let signature = sign("1000000", &body);
            let mut altered = body.clone();
            altered[place.index(body.len())] ^= 1 << bit;
            prop_assert_eq!(verify_at(&signature, "1000000", &body, 1_000_000), Ok(()));
            prop_assert_eq!(
                verify_at(&signature, "1000000", &altered, 1_000_000),
                Err(VerifyFault::NoMatch)
            );
        }

        #[test]
        fn a_flipped_bit_of_the_signature_is_refused(place in 0_usize..64, bit in 0_u8..8) {
            let mut bytes = STANDARD.decode(sign("1000000", b"{}").strip_prefix("v1a,").unwrap()).unwrap();
            bytes[place] ^= 1 << bit;
            let altered = format!("v1a,{}", STANDARD.encode(bytes));
            prop_assert_eq!(
                verify_at(&altered, "1000000", b"{}", 1_000_000),
                Err(VerifyFault::NoMatch)
            );
        }
    }
}
