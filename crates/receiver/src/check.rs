//! Whether a notice is to be believed, and if not, exactly why. The rules are those of the library; what is here says
//! what it saw.

use sealpost_domain::Timestamp;
use sealpost_webhooks::{SignedHeaders, VerifyFault, signed_content};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::{
    head::{Head, RepeatedHeader},
    hints,
    keys::Key,
};

/// What can be said of one request.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Whether a key signed the request, and its timestamp is within 300 s.
    pub valid: bool,
    /// Why it is not to be believed, for programs.
    pub fault: Option<&'static str>,
    /// The same for people.
    pub detail: Option<String>,
    /// What to look at, the surest first.
    pub hints: Vec<String>,
    /// The header `webhook-id`.
    pub webhook_id: Option<String>,
    /// The header `webhook-timestamp`.
    pub webhook_timestamp: Option<String>,
    /// Seconds from its timestamp to when it was received.
    pub age_s: Option<i64>,
    /// The entries of the signature list.
    pub signatures: Vec<SignatureEntry>,
    /// Length of the body.
    pub body_bytes: usize,
    /// Of `{webhook-id}.{webhook-timestamp}.{body}`.
    pub signed_bytes: Option<usize>,
    /// SHA-256 of the same, in hexadecimal.
    pub signed_sha256: Option<String>,
}

/// One entry of the signature list.
#[derive(Debug, Serialize)]
pub struct SignatureEntry {
    /// The version of the signature, such as `v1`.
    pub version: String,
    /// The key that made it, where that is known.
    pub made_with: Option<String>,
}

/// One request as it came.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The headers.
    pub head: &'a Head,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// Why a request is not to be believed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Disbelief {
    HeaderMissing(&'static str),
    HeaderRepeated(&'static str),
    NoMatch,
    Stale { age_s: i64 },
    TimestampUnreadable,
}

/// Judges a request that was received at `now`.
pub fn check(request: Request<'_>, keys: &[Key], now: Timestamp) -> Report {
    let mut report = Report {
        valid: false,
        fault: None,
        detail: None,
        hints: Vec::new(),
        webhook_id: None,
        webhook_timestamp: None,
        age_s: None,
        signatures: Vec::new(),
        body_bytes: request.body.len(),
        signed_bytes: None,
        signed_sha256: None,
    };
    let judged = signed_headers(request.head).and_then(|headers| {
        report.describe(&headers, request.body, keys, now);
        judge(&headers, request.body, keys, now)
    });
    match judged {
        Ok(()) => report.valid = true,
        Err(disbelief) => {
            report.fault = Some(disbelief.code());
            if disbelief == Disbelief::NoMatch {
                report.hints = hints::of(request, keys, &report);
            }
            report.detail = Some(disbelief.detail(&report));
        }
    }
    report
}

/// The three headers that count. The service sends the signature under two names.
pub(crate) fn signed_headers(head: &Head) -> Result<SignedHeaders<'_>, Disbelief> {
    let require = |name| match head.find(name) {
        Ok(Some(value)) if !value.is_empty() => Ok(value),
        Ok(_) => Err(Disbelief::HeaderMissing(name)),
        Err(RepeatedHeader) => Err(Disbelief::HeaderRepeated(name)),
    };
    let signature = match require(SIGNATURE) {
        Err(Disbelief::HeaderMissing(missing)) => {
            require(SERVICE_SIGNATURE).map_err(|_neither| Disbelief::HeaderMissing(missing))?
        }
        found => found?,
    };
    Ok(SignedHeaders {
        id: require("webhook-id")?,
        timestamp: require("webhook-timestamp")?,
        signature,
    })
}

fn judge(
    headers: &SignedHeaders<'_>,
    body: &[u8],
    keys: &[Key],
    now: Timestamp,
) -> Result<(), Disbelief> {
    if keys.iter().any(|key| key.verify(headers, body, now).is_ok()) {
        return Ok(());
    }
    let Ok(timestamp_s) = headers.timestamp.parse::<i64>() else {
        return Err(Disbelief::TimestampUnreadable);
    };
    let is_stale = |key: &Key| key.verify(headers, body, now) == Err(VerifyFault::Stale);
    // A wrong signature is worse news than an old one.
    if keys.iter().any(|key| holds(key, headers, body)) && keys.iter().any(is_stale) {
        Err(Disbelief::Stale { age_s: now.as_seconds().saturating_sub(timestamp_s) })
    } else {
        Err(Disbelief::NoMatch)
    }
}

/// Whether the key made an entry, whenever that was.
pub(crate) fn holds(key: &Key, headers: &SignedHeaders<'_>, body: &[u8]) -> bool {
    let signed_at = headers.timestamp.parse::<i64>().unwrap_or_default().saturating_mul(1000);
    key.verify(headers, body, Timestamp::from_millis(signed_at)).is_ok()
}

impl Report {
    fn describe(&mut self, headers: &SignedHeaders<'_>, body: &[u8], keys: &[Key], now: Timestamp) {
        let content = signed_content(headers, body);
        let timestamp_s = headers.timestamp.parse::<i64>().ok();
        self.webhook_id = Some(headers.id.to_owned());
        self.webhook_timestamp = Some(headers.timestamp.to_owned());
        self.age_s = timestamp_s.map(|sent_at| now.as_seconds().saturating_sub(sent_at));
        self.signed_bytes = Some(content.len());
        self.signed_sha256 = Some(hex::encode(Sha256::digest(&content)));
        let entry = |text: &str| {
            let alone = SignedHeaders { signature: text, ..*headers };
            let maker = keys.iter().find(|key| holds(key, &alone, body));
            let version = text.split_once(',').map_or(text, |(version, _)| version);
            SignatureEntry { version: version.to_owned(), made_with: maker.map(Key::name) }
        };
        self.signatures = headers.signature.split(' ').take(ENTRIES_MAX).map(entry).collect();
    }
}

impl Disbelief {
    fn code(&self) -> &'static str {
        match self {
            Self::HeaderMissing(_) => "header_missing",
            Self::HeaderRepeated(_) => "header_repeated",
            Self::NoMatch => "no_match",
            Self::Stale { .. } => "stale",
            Self::TimestampUnreadable => "timestamp_unreadable",
        }
    }

    fn detail(&self, report: &Report) -> String {
        match self {
            Self::HeaderMissing(name) => format!("the header {name} is missing"),
            Self::HeaderRepeated(name) => format!("the header {name} is there more than once"),
            Self::NoMatch => {
                let seen: Vec<_> =
                    report.signatures.iter().map(|entry| entry.version.as_str()).collect();
                format!("no signature matches; there are: {}", seen.join(", "))
            }
            Self::Stale { age_s } if *age_s < 0 => format!(
                "the signature holds, but the timestamp is {} s in the future; 300 s are allowed, so look at the clock",
                age_s.unsigned_abs()
            ),
            Self::Stale { age_s } => format!(
                "the signature holds, but the timestamp is {age_s} s old; 300 s are allowed"
            ),
            Self::TimestampUnreadable => {
                "webhook-timestamp is no whole number of seconds".to_owned()
            }
        }
    }
}

pub(crate) const SIGNATURE: &str = "webhook-signature";
pub(crate) const SERVICE_SIGNATURE: &str = "x-service-signature";
/// More are not listed one by one.
const ENTRIES_MAX: usize = 16;
