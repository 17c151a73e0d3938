//! Suggests possible causes if no signature of a request matches.

use super::result::{SERVICE_SIGNATURE, SIGNATURE, entries, signed_headers, version};
use crate::{keys::ReceiverKey, request::ReceivedRequest};

/// Returns possible causes as text for a developer, most probable first. Never empty.
pub(super) fn hints(request: ReceivedRequest<'_>, keys: &[ReceiverKey]) -> Vec<String> {
    let mut hints = Vec::new();
    hints.extend(added_newline(request, keys));
    hints.extend(wrong_length(request));
    hints.extend(missing_version(request, keys));
    hints.extend(different_signatures(request));
    if hints.is_empty() {
        hints.push(
            "the key is the key of another webhook, or the body was changed: compare length and SHA-256 of \
             {webhook-id}.{webhook-timestamp}.{body} in your receiver with this report"
                .to_owned(),
        );
    }
    hints
}

fn added_newline(request: ReceivedRequest<'_>, keys: &[ReceiverKey]) -> Option<String> {
    let body = request.body.strip_suffix(b"\n")?;
    let body = body.strip_suffix(b"\r").unwrap_or(body);
    let headers = signed_headers(request.headers).ok()?;
    keys.iter().any(|key| key.matches(&headers, body)).then(|| {
        "the signature matches without the newline at the end of the body: the body was changed after receipt"
            .to_owned()
    })
}

fn wrong_length(request: ReceivedRequest<'_>) -> Option<String> {
    let declared: usize = request.headers.find("content-length").ok()??.parse().ok()?;
    let length = request.body.len();
    (declared != length).then(|| {
        format!("Content-Length is {declared}, but the body has {length} bytes: the body was changed after receipt")
    })
}

fn missing_version(request: ReceivedRequest<'_>, keys: &[ReceiverKey]) -> Option<String> {
    let headers = signed_headers(request.headers).ok()?;
    let is_present =
        |key: &ReceiverKey| entries(&headers).any(|entry| version(entry) == key.version());
    if keys.iter().any(is_present) {
        return None;
    }
    let hint = match keys.first() {
        None => "there is no key: add the whsec_ secret of the webhook",
        Some(ReceiverKey::Public(_)) => {
            "a public key verifies v1a signatures, but the request has none: use the secret of the webhook"
        }
        Some(ReceiverKey::Secret { .. }) => {
            "a secret verifies v1 signatures, but the request has none: use the public key of the service"
        }
    };
    Some(hint.to_owned())
}

fn different_signatures(request: ReceivedRequest<'_>) -> Option<String> {
    let [one, other] =
        [SIGNATURE, SERVICE_SIGNATURE].map(|name| request.headers.find(name).ok().flatten());
    (one? != other?).then(|| {
        format!(
            "{SIGNATURE} and {SERVICE_SIGNATURE} differ: the service always sends the same value"
        )
    })
}
