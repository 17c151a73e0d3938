//! Finds the headers that verification needs: id, timestamp and signatures.

use sealpost_webhooks::SignedHeaders;

use super::fault::VerificationFault;
use crate::request::{HeaderList, RepeatedHeader};

/// Returns the id, the timestamp and the list of signatures. The list is the value of `webhook-signature`. If this
/// header is missing, the list is the value of `x-service-signature`.
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

/// Returns the signatures in the list, at most 16. Each is an entry such as `v1,` and base64.
pub(super) fn entries<'a>(headers: &SignedHeaders<'a>) -> impl Iterator<Item = &'a str> {
    headers.signature.split(' ').take(ENTRIES_MAX)
}

/// Returns the version of a signature: the part before the comma, such as `v1`.
pub(super) fn version(entry: &str) -> &str {
    entry.split_once(',').map_or(entry, |(version, _)| version)
}

pub(super) const SIGNATURE: &str = "webhook-signature";
pub(super) const SERVICE_SIGNATURE: &str = "x-service-signature";
/// Maximum number of signatures that are read from one request, which bounds the size of a report.
const ENTRIES_MAX: usize = 16;
