//! The headers that a signature covers.

use sealpost_webhooks::SignedHeaders;

use super::fault::VerificationFault;
use crate::request::{HeaderList, RepeatedHeader};

/// Returns id, timestamp and signature. The signature may be in `webhook-signature` or in `x-service-signature`.
pub(super) fn signed_headers(headers: &HeaderList) -> Result<SignedHeaders<'_>, VerificationFault> {
    let require = |name| match headers.find(name) {
        Ok(Some(value)) if !value.is_empty() => Ok(value),
        Ok(_) => Err(VerificationFault::HeaderMissing { name }),
        Err(RepeatedHeader) => Err(VerificationFault::HeaderRepeated { name }),
    };
    let signature = match require(SIGNATURE) {
        Err(VerificationFault::HeaderMissing { name }) => require(SERVICE_SIGNATURE)
            .map_err(|_missing| VerificationFault::HeaderMissing { name })?,
        found => found?,
    };
    Ok(SignedHeaders {
        id: require("webhook-id")?,
        timestamp: require("webhook-timestamp")?,
        signature,
    })
}

/// Returns the entries of the signature list, at most 16.
pub(super) fn entries<'a>(headers: &SignedHeaders<'a>) -> impl Iterator<Item = &'a str> {
    headers.signature.split(' ').take(ENTRIES_MAX)
}

/// Returns the version of a signature, such as `v1`.
pub(super) fn version(entry: &str) -> &str {
    entry.split_once(',').map_or(entry, |(version, _)| version)
}

pub(super) const SIGNATURE: &str = "webhook-signature";
pub(super) const SERVICE_SIGNATURE: &str = "x-service-signature";
/// Maximum number of signatures that are read from one request. Bounds the size of a report.
const ENTRIES_MAX: usize = 16;
