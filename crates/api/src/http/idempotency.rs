//! `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a structured-field string, or bare as many
//! clients send it.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use sealpost_domain::{IdempotencyKey, Refusal};

use super::fields::invalid;

/// The caller's own name for the request, where it gave one.
pub(crate) fn key_of(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Refusal> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY);
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(invalid(NAME, "must be given once"));
    }
    let text = text_of(value).ok_or_else(malformed)?;
    IdempotencyKey::parse(&text).map(Some).map_err(|fault| invalid(NAME, fault.to_string()))
}

/// Marks an answer that was given before.
pub(crate) const REPLAYED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("idempotency-replayed"), HeaderValue::from_static("true"));

fn text_of(value: &HeaderValue) -> Option<String> {
    let text = std::str::from_utf8(value.as_bytes()).ok()?.trim();
    match text.strip_prefix('"') {
        Some(quoted) => unquote(quoted.strip_suffix('"')?),
        None => Some(text.to_owned()),
    }
}

/// RFC 9651: a backslash escapes a quote or itself and nothing else.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<String>, Refusal> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(value).unwrap());
        }
        Ok(key_of(&headers)?.map(|key| key.as_str().to_owned()))
    }

    #[test]
    fn a_key_is_read_bare_and_quoted_alike() {
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
    fn a_malformed_key_is_a_fault_of_the_field() {
        let long = "x".repeat(256);
        for value in ["", "\"", "\"\"", "\"open", r#""a\"#, r#""a\n""#, r#""a"b""#, "ü", &long] {
            let refusal = read(&[value.as_bytes()]).unwrap_err();
            assert_eq!(refusal.field(), Some("Idempotency-Key"), "{value}");
        }
        assert!(read(&[b"\xff"]).is_err());
        assert!(read(&[b"one", b"two"]).is_err());
    }
}
