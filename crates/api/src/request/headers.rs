//! Reads headers that a request may have at most once: `Idempotency-Key`, `traceparent` and others.

use actix_web::{
    HttpMessage as _, HttpRequest,
    http::header::{AsHeaderName, HeaderMap, HeaderName, HeaderValue},
};
use sealpost_domain::{IdempotencyKey, Refusal, TraceParent};

use super::fields::invalid;

/// Returns the value of a header, or `None` without the header. Refuses a repeated header as `INVALID_FIELD` with the
/// field `name`, even if its values are equal. Otherwise a proxy in front of the service could use another value than
/// the service.
pub(super) fn single_header<'a>(
    headers: &'a HeaderMap,
    header: impl AsHeaderName,
    name: &'static str,
) -> Result<Option<&'a HeaderValue>, Refusal> {
    let mut values = headers.get_all(header);
    let value = values.next();
    if values.next().is_some() {
        return Err(invalid(name, "must be sent once"));
    }
    Ok(value)
}

/// Returns the trace that a request continues. If the request has a span of its own, this span is the parent in the
/// trace. Otherwise reads the header `traceparent` (W3C Trace Context). Returns `None` if the header is absent, invalid
/// or repeated: the standard requires that an invalid header is ignored.
pub(crate) fn trace_parent(request: &HttpRequest) -> Option<TraceParent> {
    if let Some(own) = request.extensions().get::<TraceParent>() {
        return Some(*own);
    }
    let mut values = request.headers().get_all(TRACEPARENT);
    let value = values.next().filter(|_| values.next().is_none())?;
    TraceParent::parse(value.to_str().ok()?)
}

/// Returns the value of `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), or `None` without the header.
/// Refuses a malformed or repeated header as `INVALID_FIELD`. Also accepts a string without the quotes that the draft
/// requires, because many clients omit them.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Refusal> {
    let Some(value) = single_header(headers, IDEMPOTENCY_KEY, NAME)? else { return Ok(None) };
    let text = text_of(value).ok_or_else(malformed)?;
    IdempotencyKey::parse(&text).map(Some).map_err(|fault| invalid(NAME, fault.to_string()))
}

fn text_of(value: &HeaderValue) -> Option<String> {
    let text = std::str::from_utf8(value.as_bytes()).ok()?.trim();
    match text.strip_prefix('"') {
        Some(quoted) => unquote(quoted.strip_suffix('"')?),
        None => Some(text.to_owned()),
    }
}

/// Resolves the escapes of RFC 9651: a backslash before a quote or a backslash. Returns `None` for other escapes.
fn unquote(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut symbols = inner.chars();
    while let Some(symbol) = symbols.next() {
        text.push(match symbol {
            '\\' => symbols.next().filter(|escaped| matches!(escaped, '"' | '\\'))?,
            '"' => return None,
            plain => plain,
        });
    }
    Some(text)
}

fn malformed() -> Refusal {
    invalid(NAME, "must be a string in quotes or bare printable ASCII characters")
}

const NAME: &str = "Idempotency-Key";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<String>, Refusal> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(value).unwrap());
        }
        Ok(idempotency_key(&headers)?.map(|key| key.as_str().to_owned()))
    }

    #[test]
    fn a_key_is_the_same_with_and_without_quotes() {
        assert_eq!(read(&[]), Ok(None));
        for (value, key) in [
            ("8e03978e-40d5", "8e03978e-40d5"),
            ("\"8e03978e-40d5\"", "8e03978e-40d5"),
            ("a b, c", "a b, c"),
            (r#""say \"hi\" \\""#, r#"say "hi" \"#),
            ("  padded ", "padded"),
        ] {
            assert_eq!(read(&[value.as_bytes()]), Ok(Some(key.to_owned())), "{value}");
        }
    }

    #[test]
    fn a_malformed_key_is_an_invalid_field() {
        let long = "x".repeat(256);
        for value in ["", "\"", "\"\"", "\"open", r#""a\"#, r#""a\n""#, r#""a"b""#, "ü", &long] {
            let refusal = read(&[value.as_bytes()]).unwrap_err();
            assert_eq!(refusal.field(), Some("Idempotency-Key"), "{value}");
        }
        assert!(read(&[b"\xff"]).is_err());
        assert!(read(&[b"one", b"two"]).is_err());
    }
}
