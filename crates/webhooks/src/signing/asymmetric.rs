//! Asymmetric signatures of Standard Webhooks, version `v1a`: Ed25519 with the key of the service.
//!
//! Verification needs no secret, so a receiver cannot forge a request and can use the signature as proof.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::{ED25519, UnparsedPublicKey};
use sealpost_domain::{Timestamp, ports::EventSigner};

use super::{
    verification::{SignedHeaders, VerifyError, content, verify_version},
    verifying_key::VerifyingKey,
};

/// Signs a request. Returns one entry of `webhook-signature`: `v1a,` and the base64 of the Ed25519 signature over
/// `{webhook_id}.{timestamp}.{body}`, with the timestamp exactly as sent. `webhook_id` is the value of the header
/// `webhook-id`.
pub fn sign_asymmetric(
    signer: &dyn EventSigner,
    webhook_id: &str,
    timestamp: &str,
    body: &[u8],
) -> String {
    let signature = signer.sign_event(&content(webhook_id, timestamp, body));
    format!("{VERSION}{}", STANDARD.encode(signature))
}

/// Accepts a request only if one of its `v1a` signatures matches and the timestamp is within five minutes of `now`.
/// Ignores all other entries, like [`verify`](crate::verify).
pub fn verify_asymmetric(
    key: &VerifyingKey,
    headers: &SignedHeaders<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<(), VerifyError> {
    let key = UnparsedPublicKey::new(&ED25519, key.as_bytes());
    verify_version(VERSION, headers, body, now, |content, signature| {
        key.verify(content, signature).is_ok()
    })
}

const VERSION: &str = "v1a,";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::fixture::Signer;

    fn verify(signature: &str, body: &[u8]) -> Result<(), VerifyError> {
        let headers = SignedHeaders { id: "msg_1", timestamp: "1000000", signature };
        let key = Signer::new(&[7; 32]).key();
        verify_asymmetric(&key, &headers, body, Timestamp::from_millis(1_000_000_000))
    }

    fn sign(body: &[u8]) -> String {
        sign_asymmetric(&Signer::new(&[7; 32]), "msg_1", "1000000", body)
    }

    /// Verifies a published signature, from the test `TestAsymmetricWebhookSign` of the Go library in the repository
    /// `standard-webhooks/libraries`.
    #[test]
    fn the_published_vector_verifies() {
        let seed = STANDARD.decode("VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=").unwrap();
        let signer = Signer::new(&seed);
        let (id, timestamp, body) =
            ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#);
        let signature = sign_asymmetric(&signer, id, timestamp, body);
        assert_eq!(
            signature,
            "v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag=="
        );
        let headers = SignedHeaders { id, timestamp, signature: &signature };
        let now = Timestamp::from_millis(1_614_265_330_000);
        assert_eq!(verify_asymmetric(&signer.key(), &headers, body, now), Ok(()));
        let other = Signer::new(&[7; 32]).key();
        assert_eq!(verify_asymmetric(&other, &headers, body, now), Err(VerifyError::NoMatch));
    }

    #[test]
    fn any_entry_of_the_list_may_match_but_only_as_v1a() {
        let right = sign(b"{}");
        let list = format!("v1,AAAA v1a,AAAA junk {right}");
        assert_eq!(verify(&list, b"{}"), Ok(()));
        for without in [list.replace(&right, ""), right.replace("v1a,", "v1,")] {
            assert_eq!(verify(&without, b"{}"), Err(VerifyError::NoMatch));
        }
    }

    proptest! {
        #[test]
        fn a_signed_request_verifies_and_a_flipped_bit_is_refused(
            body in proptest::collection::vec(any::<u8>(), 1..200),
            place in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let signature = sign(&body);
            let mut altered = body.clone();
            altered[place.index(body.len())] ^= 1 << bit;
            prop_assert_eq!(verify(&signature, &body), Ok(()));
            prop_assert_eq!(verify(&signature, &altered), Err(VerifyError::NoMatch));
        }
    }
}
