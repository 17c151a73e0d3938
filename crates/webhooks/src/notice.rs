//! One notice: its body and its headers, made anew for every attempt because the timestamp is part of the signature.

use std::sync::Arc;

use awc::http::header::{CONTENT_TYPE, HeaderName, HeaderValue, InvalidHeaderValue};
use ring::hmac;
use sealpost_domain::{EnvelopeMeta, EnvelopeReceived, Timestamp, ports::EventSigner};

use crate::{asymmetric::entry_v1a, signature};

pub(crate) struct Notice {
    pub(crate) headers: [(HeaderName, HeaderValue); 5],
    /// The very bytes that were signed.
    pub(crate) body: Vec<u8>,
}

/// Everything that signs a target's notices.
pub(crate) struct Signers {
    pub(crate) key: hmac::Key,
    /// Keys that were replaced and still sign along, each until its time.
    pub(crate) retiring: Vec<(hmac::Key, Timestamp)>,
    /// The service's own.
    pub(crate) service: Option<Arc<dyn EventSigner>>,
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
        signers: &Signers,
        now: Timestamp,
    ) -> Result<Self, NoticeFault> {
        let body = serde_json::to_vec(&EnvelopeReceived::from(meta))?;
        let id = meta.id.to_string();
        let timestamp = now.as_seconds().to_string();
        let signature = HeaderValue::try_from(signers.sign(&id, &timestamp, &body, now))?;
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

impl Signers {
    /// The list of signatures: the newest secret's first, the service's own last, since a receiver that knows only
    /// secrets passes over it.
    fn sign(&self, id: &str, timestamp: &str, body: &[u8], now: Timestamp) -> String {
        let mut list = signature::entry(&self.key, id, timestamp, body);
        let mut add = |entry: &str| {
            list.push(' ');
            list.push_str(entry);
        };
        for (key, _) in self.retiring.iter().filter(|(_, until)| now < *until) {
            add(&signature::entry(key, id, timestamp, body));
        }
        if let Some(service) = &self.service {
            add(&entry_v1a(&**service, id, timestamp, body));
        }
        list
    }
}

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const SERVICE_SIGNATURE: HeaderName = HeaderName::from_static("x-service-signature");
