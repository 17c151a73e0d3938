//! One notice: its body and its headers, made anew for every attempt because the timestamp is part of the signature.

use awc::http::header::{CONTENT_TYPE, HeaderName, HeaderValue, InvalidHeaderValue};
use ring::hmac;
use sealpost_domain::{EnvelopeMeta, EnvelopeReceived, Timestamp};

use crate::signature;

pub(crate) struct Notice {
    pub(crate) headers: [(HeaderName, HeaderValue); 5],
    /// The very bytes that were signed.
    pub(crate) body: Vec<u8>,
}

/// What is stored of the envelope cannot be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoticeFault {
    #[error("the event cannot be written as JSON")]
    Body(#[from] serde_json::Error),
    #[error("a header cannot be written")]
    Header(#[from] InvalidHeaderValue),
}

impl Notice {
    pub(crate) fn new(
        meta: &EnvelopeMeta,
        key: &hmac::Key,
        now: Timestamp,
    ) -> Result<Self, NoticeFault> {
        let body = serde_json::to_vec(&EnvelopeReceived::from(meta))?;
        let id = meta.id.to_string();
        let timestamp = now.as_seconds().to_string();
        let signature = HeaderValue::try_from(signature::entry(key, &id, &timestamp, &body))?;
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (WEBHOOK_ID, HeaderValue::try_from(id)?),
            (WEBHOOK_TIMESTAMP, HeaderValue::try_from(timestamp)?),
            (SERVICE_SIGNATURE, signature.clone()),
            (WEBHOOK_SIGNATURE, signature),
        ];
        Ok(Self { headers, body })
    }
}

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const SERVICE_SIGNATURE: HeaderName = HeaderName::from_static("x-service-signature");
