//! Symmetric signatures of Standard Webhooks, version `v1`: HMAC-SHA256 with the secret of the webhook.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use sealpost_domain::Timestamp;
use sealpost_wallet::WebhookSecret;

use super::verification::{SignedHeaders, VerifyError, content, verify_version};

/// Signs a request. Returns one entry of `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over
/// `{webhook_id}.{timestamp_s}.{body}`. `webhook_id` is the value of the header `webhook-id`.
pub fn sign(secret: &WebhookSecret, webhook_id: &str, timestamp_s: i64, body: &[u8]) -> String {
    sign_with_key(&mac_key(secret), webhook_id, &timestamp_s.to_string(), body)
}

/// Accepts a request only if one of its `v1` signatures matches and the timestamp is within five minutes of `now`.
/// Ignores entries of unknown versions, so that a sender can add a version.
pub fn verify(
    secret: &WebhookSecret,
    headers: &SignedHeaders<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<(), VerifyError> {
    let key = mac_key(secret);
    verify_version(VERSION, headers, body, now, |content, mac| {
        hmac::verify(&key, content, mac).is_ok()
    })
}

/// Converts a secret into an HMAC key, which can be used for many signatures.
pub(crate) fn mac_key(secret: &WebhookSecret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.bytes())
}

/// Signs like [`sign`], with a prepared key and the timestamp as text.
pub(super) fn sign_with_key(
    key: &hmac::Key,
    event_id: &str,
    timestamp: &str,
    body: &[u8],
) -> String {
    let mac = hmac::sign(key, &content(event_id, timestamp, body));
    let mut entry = String::with_capacity(VERSION.len() + MAC_BASE64_LEN);
    entry.push_str(VERSION);
    STANDARD.encode_string(mac, &mut entry);
    entry
}

const VERSION: &str = "v1,";
/// Number of base64 characters that encode a MAC of 32 bytes.
const MAC_BASE64_LEN: usize = 44;

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use proptest::prelude::*;
    use standardwebhooks::Webhook;

    use super::*;

    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

    fn secret() -> WebhookSecret {
        WebhookSecret::parse(SECRET).unwrap()
    }

    fn verify_at(
        signature: &str,
        timestamp: &str,
        body: &[u8],
        now_s: i64,
    ) -> Result<(), VerifyError> {
        let headers = SignedHeaders { id: "msg_1", timestamp, signature };
        verify(&secret(), &headers, body, Timestamp::from_millis(now_s * 1000))
    }

    /// Compares with a published test: `test_sign` of the Rust library in the repository `standard-webhooks/libraries`.
    #[test]
    fn the_published_vector_verifies() {
        let signature = sign(
            &secret(),
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            1_649_367_553,
            br#"{"email":"test@example.com","username":"test_user"}"#,
        );
        assert_eq!(signature, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }

    #[test]
    fn a_time_more_than_five_minutes_away_is_refused() {
        let signature = sign(&secret(), "msg_1", 1_000_000, b"{}");
        for (now_s, verdict) in [
            (1_000_300, Ok(())),
            (999_700, Ok(())),
            (1_000_301, Err(VerifyError::Stale)),
            (999_699, Err(VerifyError::Stale)),
        ] {
            assert_eq!(verify_at(&signature, "1000000", b"{}", now_s), verdict, "{now_s}");
        }
        for timestamp in ["", "now", "1000000.5", "99999999999999999999"] {
            assert_eq!(
                verify_at(&signature, timestamp, b"{}", 1_000_000),
                Err(VerifyError::TimestampUnreadable)
            );
        }
    }

    /// Signs the request with the current time, because the reference library reads the system clock.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the reference library reads the system clock")]
    fn the_reference_library_verifies_the_signature() {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let timestamp_s = i64::try_from(since_epoch.as_secs()).unwrap();
        let verifies = |body: &[u8]| {
            let mut headers = http::HeaderMap::new();
            headers.insert("webhook-id", "env_1".parse().unwrap());
            headers.insert("webhook-timestamp", timestamp_s.into());
            let signature = sign(&secret(), "env_1", timestamp_s, b"{\"a\":1}");
            headers.insert("webhook-signature", signature.parse().unwrap());
            Webhook::new(SECRET).unwrap().verify(body, &headers).is_ok()
        };
        assert!(verifies(b"{\"a\":1}"));
        assert!(!verifies(b"{\"a\":0}"));
    }

    proptest! {
        #[test]
        fn the_reference_library_signs_identically(
            id in "[a-z_0-9]{1,40}",
            timestamp_s in 0..4_000_000_000_i64,
            body in ".{0,300}",
        ) {
            let reference = Webhook::new(SECRET).unwrap();
            let expected = reference.sign(&id, timestamp_s, body.as_bytes()).unwrap();
            prop_assert_eq!(sign(&secret(), &id, timestamp_s, body.as_bytes()), expected);
        }

        #[test]
        fn a_flipped_bit_is_refused(
            body in proptest::collection::vec(any::<u8>(), 1..200),
            place in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let signature = sign(&secret(), "msg_1", 1_000_000, &body);
            let mut altered = body.clone();
            altered[place.index(body.len())] ^= 1 << bit;
            prop_assert_eq!(verify_at(&signature, "1000000", &body, 1_000_000), Ok(()));
            prop_assert_eq!(
                verify_at(&signature, "1000000", &altered, 1_000_000),
                Err(VerifyError::NoMatch)
            );
        }
    }
}
