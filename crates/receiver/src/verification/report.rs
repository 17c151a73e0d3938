//! Explains in a report why a request is verified or not: the result of the verification, and the facts that led to the
//! result.

use sealpost_domain::Timestamp;
use sealpost_webhooks::{SignedHeaders, signed_content};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{
    hints::hints,
    result::{VerificationError, entries, signed_headers, verify_headers, version},
};
use crate::{keys::ReceiverKey, request::ReceivedRequest};

/// The result of a verification and the facts that explain it. As JSON it is the output of `sealpost verify --json`.
#[derive(Debug, Default, Serialize)]
pub struct VerificationReport {
    /// Whether the request is verified: a signature matches, and the timestamp is within 300 s of the time of receipt.
    pub valid: bool,
    /// The reason why the request is not verified; `None` if it is verified.
    pub fault: Option<VerificationError>,
    /// The `fault` as text for a developer; `None` if the request is verified.
    pub detail: Option<String>,
    /// Possible causes of [`VerificationError::NoMatch`], most probable first. Empty for other results.
    pub hints: Vec<String>,
    /// Value of the header `webhook-id`; `None` if a required header is missing or repeated.
    pub webhook_id: Option<String>,
    /// Value of the header `webhook-timestamp`; `None` if a required header is missing or repeated.
    pub webhook_timestamp: Option<String>,
    /// Seconds from the timestamp to the time of receipt. `None` if a required header is missing or repeated, or if the
    /// timestamp is not a whole number.
    pub age_s: Option<i64>,
    /// The signatures of the request, at most 16.
    pub signatures: Vec<SignatureEntry>,
    /// The length of the body in bytes.
    pub body_bytes: usize,
    /// Length in bytes of the signed content `{webhook-id}.{webhook-timestamp}.{body}`. `None` if a required header is
    /// missing or repeated.
    pub signed_bytes: Option<usize>,
    /// SHA-256 of the signed content, in hexadecimal. `None` if a required header is missing or repeated.
    pub signed_sha256: Option<String>,
}

/// One signature of a request.
#[derive(Debug, Serialize)]
pub struct SignatureEntry {
    /// The version of the signature, such as `v1`.
    pub version: String,
    /// The name of the key that made the signature. `None` if no key of the receiver made the signature.
    pub made_with: Option<String>,
    /// Whether the signature was checked. False if the receiver has no key of this version.
    pub checked: bool,
}

/// Verifies a request like [`verify`](crate::verify) and reports all facts for a developer. Takes longer than `verify`,
/// because it compares each signature with each key.
pub fn explain(
    request: ReceivedRequest<'_>,
    keys: &[ReceiverKey],
    now: Timestamp,
) -> VerificationReport {
    let body_bytes = request.body.len();
    let mut report = VerificationReport { body_bytes, ..VerificationReport::default() };
    let result = signed_headers(request.headers).and_then(|headers| {
        report.describe(&headers, request.body, keys, now);
        verify_headers(&headers, request.body, keys, now)
    });
    match result {
        Ok(()) => report.valid = true,
        Err(fault) => {
            if let VerificationError::NoMatch { .. } = fault {
                report.hints = hints(request, keys);
            }
            report.detail = Some(fault.to_string());
            report.fault = Some(fault);
        }
    }
    report
}

impl VerificationReport {
    fn describe(
        &mut self,
        headers: &SignedHeaders<'_>,
        body: &[u8],
        keys: &[ReceiverKey],
        now: Timestamp,
    ) {
        let content = signed_content(headers, body);
        let timestamp_s = headers.timestamp.parse::<i64>().ok();
        self.webhook_id = Some(headers.id.to_owned());
        self.webhook_timestamp = Some(headers.timestamp.to_owned());
        self.age_s = timestamp_s.map(|timestamp_s| now.as_seconds().saturating_sub(timestamp_s));
        self.signed_bytes = Some(content.len());
        self.signed_sha256 = Some(hex::encode(Sha256::digest(&content)));
        let entry = |text: &str| {
            let single = SignedHeaders { signature: text, ..*headers };
            let key = keys.iter().find(|key| key.matches(&single, body));
            SignatureEntry {
                version: version(text).to_owned(),
                made_with: key.map(ReceiverKey::name),
                checked: keys.iter().any(|key| key.version() == version(text)),
            }
        };
        self.signatures = entries(headers).map(entry).collect();
    }
}
