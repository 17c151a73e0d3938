//! The signature of a notice: Standard Webhooks 1.0.0, symmetric, and what both kinds of signature have in common.
//! Apart, because receivers use it too.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use sealpost_domain::Timestamp;
use sealpost_wallet::WebhookSecret;

/// One entry of `webhook-signature`: `v1,` and base64 of HMAC-SHA256 over `{webhook_id}.{timestamp_s}.{body}`.
pub fn sign(secret: &WebhookSecret, webhook_id: &str, timestamp_s: i64, body: &[u8]) -> String {
    entry(&mac_key(secret), webhook_id, &timestamp_s.to_string(), body)
}

/// The signature headers of a notice, as a receiver got them.
#[derive(Debug, Clone, Copy)]
pub struct SignedHeaders<'a> {
    /// `webhook-id`.
    pub id: &'a str,
    /// `webhook-timestamp`.
    pub timestamp: &'a str,
    /// `webhook-signature`, or `X-Service-Signature`, which has the same value.
    pub signature: &'a str,
}

/// Why a notice must not be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyFault {
    /// No entry of the list was made with this key over this id, timestamp and body.
    #[error("no signature matches")]
    NoMatch,
    /// It was signed more than five minutes from now: a replay, or a clock that is wrong.
    #[error("the timestamp is more than five minutes away")]
    Stale,
    /// The timestamp is no whole number of seconds.
    #[error("the timestamp is no number of seconds")]
    TimestampUnreadable,
}

/// Believes a notice only if one of its signatures is right and it was signed within five minutes of `now`. Entries
/// of unknown versions are passed over, so that a sender may add one.
pub fn verify(
    secret: &WebhookSecret,
    headers: &SignedHeaders<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<(), VerifyFault> {
    let key = mac_key(secret);
    let entries = Entries { version: VERSION, headers, body };
    entries.verify(now, |content, mac| hmac::verify(&key, content, mac).is_ok())
}

/// The bytes that a notice's signatures are made over, as these headers and this body have them.
pub fn signed_content(headers: &SignedHeaders<'_>, body: &[u8]) -> Vec<u8> {
    content(headers.id, headers.timestamp, body)
}

/// The entries of one version, and what they claim to be made over.
pub(crate) struct Entries<'a> {
    /// What each of them starts with, the comma included.
    pub(crate) version: &'a str,
    pub(crate) headers: &'a SignedHeaders<'a>,
    pub(crate) body: &'a [u8],
}

impl Entries<'_> {
    /// The rules that every version follows; `holds` judges one signature over the content.
    pub(crate) fn verify(
        &self,
        now: Timestamp,
        holds: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Result<(), VerifyFault> {
        let Ok(timestamp_s) = self.headers.timestamp.parse::<i64>() else {
            return Err(VerifyFault::TimestampUnreadable);
        };
        if now.as_seconds().abs_diff(timestamp_s) > TOLERANCE_S {
            return Err(VerifyFault::Stale);
        }
        let content = signed_content(self.headers, self.body);
        let matches = |entry: &str| {
            let text = entry.strip_prefix(self.version);
            let signature = text.and_then(|text| STANDARD.decode(text).ok());
            signature.is_some_and(|signature| holds(&content, &signature))
        };
        if self.headers.signature.split(' ').any(matches) {
            Ok(())
        } else {
            Err(VerifyFault::NoMatch)
        }
    }
}

/// The secret, prepared for many signatures.
pub(crate) fn mac_key(secret: &WebhookSecret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.bytes())
}

/// What [`sign`] makes, with a prepared secret and the timestamp as it is sent.
pub(crate) fn entry(key: &hmac::Key, webhook_id: &str, timestamp: &str, body: &[u8]) -> String {
    let mac = hmac::sign(key, &content(webhook_id, timestamp, body));
    let mut entry = String::with_capacity(VERSION.len() + 44);
    entry.push_str(VERSION);
    STANDARD.encode_string(mac, &mut entry);
    entry
}

pub(crate) fn content(webhook_id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [webhook_id.as_bytes(), timestamp.as_bytes(), body].join(&b'.')
}

const VERSION: &str = "v1,";

/// What the reference libraries allow.
const TOLERANCE_S: u64 = 5 * 60;

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
    ) -> Result<(), VerifyFault> {
        let headers = SignedHeaders { id: "msg_1", timestamp, signature };
        verify(&secret(), &headers, body, Timestamp::from_millis(now_s * 1000))
    }

    /// `standard-webhooks/libraries`, Rust, `test_sign`: the secret, id, timestamp, payload and signature there.
    #[test]
    fn the_published_vector_holds() {
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
            (1_000_301, Err(VerifyFault::Stale)),
            (999_699, Err(VerifyFault::Stale)),
        ] {
            assert_eq!(verify_at(&signature, "1000000", b"{}", now_s), verdict, "{now_s}");
        }
        for timestamp in ["", "now", "1000000.5", "99999999999999999999"] {
            assert_eq!(
                verify_at(&signature, timestamp, b"{}", 1_000_000),
                Err(VerifyFault::TimestampUnreadable)
            );
        }
    }

    #[test]
    fn any_entry_of_the_list_may_match() {
        let right = sign(&secret(), "msg_1", 1_000_000, b"{}");
        let list = format!("v1a,AAAA v1,AAAA junk {right} v2,AAAA");
        assert_eq!(verify_at(&list, "1000000", b"{}", 1_000_000), Ok(()));
        let without = list.replace(&right, "");
        assert_eq!(verify_at(&without, "1000000", b"{}", 1_000_000), Err(VerifyFault::NoMatch));
        let other_version = right.replace("v1,", "v2,");
        assert_eq!(
            verify_at(&other_version, "1000000", b"{}", 1_000_000),
            Err(VerifyFault::NoMatch)
        );
    }

    /// The library asks the system for the time, so the notice must be of now.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the reference library asks no Clock")]
    fn the_reference_library_believes_it() {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let timestamp_s = i64::try_from(since_epoch.as_secs()).unwrap();
        let believes = |body: &[u8]| {
            let mut headers = http::HeaderMap::new();
            headers.insert("webhook-id", "env_1".parse().unwrap());
            headers.insert("webhook-timestamp", timestamp_s.into());
            let signature = sign(&secret(), "env_1", timestamp_s, b"{\"a\":1}");
            headers.insert("webhook-signature", signature.parse().unwrap());
            Webhook::new(SECRET).unwrap().verify(body, &headers).is_ok()
        };
        assert!(believes(b"{\"a\":1}"));
        assert!(!believes(b"{\"a\":0}"));
    }

    proptest! {
        #[test]
        fn the_reference_library_makes_the_same(
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
                Err(VerifyFault::NoMatch)
            );
        }
    }
}
