//! Why no signature matches, as far as that can be guessed.

use crate::{
    check::{Report, Request, SERVICE_SIGNATURE, SIGNATURE, holds, signed_headers},
    keys::Key,
};

/// What to look at, the surest first. Never empty.
pub(crate) fn of(request: Request<'_>, keys: &[Key], report: &Report) -> Vec<String> {
    let mut hints = Vec::new();
    hints.extend(of_newline(request, keys));
    hints.extend(of_length(request));
    hints.extend(of_versions(keys, report));
    hints.extend(of_two_names(request));
    if hints.is_empty() {
        hints.push(
            "the key is another's (each webhook has a secret of its own), or the body is not what was sent: \
             compare the length and SHA-256 of what you sign, {webhook-id}.{webhook-timestamp}.{body}, with those \
             shown here"
                .to_owned(),
        );
    }
    hints
}

fn of_newline(request: Request<'_>, keys: &[Key]) -> Option<String> {
    let bare = request.body.strip_suffix(b"\n")?;
    let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
    let headers = signed_headers(request.head).ok()?;
    keys.iter().any(|key| holds(key, &headers, bare)).then(|| {
        "it matches without the newline at the end of the body: the sender sent none".to_owned()
    })
}

fn of_length(request: Request<'_>) -> Option<String> {
    let declared: usize = request.head.find("content-length").ok()??.parse().ok()?;
    let length = request.body.len();
    (declared != length).then(|| {
        format!("Content-Length is {declared} and the body has {length} bytes: this is not what was sent")
    })
}

fn of_versions(keys: &[Key], report: &Report) -> Option<String> {
    let is_seen = |version: &str| report.signatures.iter().any(|entry| entry.version == version);
    if keys.iter().any(|key| is_seen(key.version())) {
        return None;
    }
    let wanted = match keys.first() {
        None => "the secret file is empty: put the whsec_ secret of the webhook there",
        Some(Key::Public(_)) => {
            "a public key verifies v1a entries, and there is none: give a secret"
        }
        Some(Key::Secret { .. }) => {
            "a secret verifies v1 entries, and there is none: give --public-key or --did-json"
        }
    };
    Some(wanted.to_owned())
}

fn of_two_names(request: Request<'_>) -> Option<String> {
    let [one, other] =
        [SIGNATURE, SERVICE_SIGNATURE].map(|name| request.head.find(name).ok().flatten());
    (one? != other?).then(|| {
        format!("{SIGNATURE} and {SERVICE_SIGNATURE} differ, which the service never sends")
    })
}
