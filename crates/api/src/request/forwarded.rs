//! Parses the `for` parameters of the `Forwarded` header (RFC 7239). Each parameter names the address from which a
//! proxy received the request.

/// Returns the `for` parameter of each element of a header line, from left to right, or `None` for an element without a
/// readable `for`. Returns `None` for the whole line if a quoted string is not closed, because the ends of the elements
/// are then unknown.
pub(super) fn nodes(line: &str) -> Option<Vec<Option<String>>> {
    split(line, ',')?.into_iter().map(|element| Some(node(element))).collect()
}

fn node(element: &str) -> Option<String> {
    let mut found = None;
    for pair in split(element, ';')? {
        let (name, value) = pair.split_once('=')?;
        if name.trim().eq_ignore_ascii_case("for") {
            if found.is_some() {
                return None;
            }
            found = Some(unquote(value.trim())?);
        }
    }
    found
}

/// Splits a text at separators outside quoted strings. Returns `None` if a quoted string is not closed.
fn split(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut quoted, mut escaped) = (false, false);
    let parts = text.split(|symbol| {
        if escaped {
            escaped = false;
        } else if quoted && symbol == '\\' {
            escaped = true;
        } else if symbol == '"' {
            quoted = !quoted;
        }
        symbol == separator && !quoted
    });
    let parts = parts.collect();
    (!quoted).then_some(parts)
}

fn unquote(value: &str) -> Option<String> {
    match value.strip_prefix('"') {
        // Rejects values with escapes as forged, because an address contains no character that needs an escape.
        Some(rest) => rest.strip_suffix('"').filter(|text| !text.contains(['"', '\\'])),
        None => Some(value),
    }
    .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_inside_quotes_are_ignored() {
        let line = r#"for="_a,b;c";by=x, by="for=1.1.1.1";for=_d ,proto=http"#;
        let found = nodes(line).unwrap();
        assert_eq!(found, [Some("_a,b;c".to_owned()), Some("_d".to_owned()), None]);
    }

    #[test]
    fn ambiguous_elements_are_not_read() {
        assert_eq!(nodes(r#"for="a"#), None);
        assert_eq!(nodes(r#"for="a\""#), None);
        assert_eq!(nodes("for=1.1.1.1;for=2.2.2.2").unwrap(), [None]);
        assert_eq!(nodes(r#"for="a"b"#).unwrap(), [None]);
        assert_eq!(nodes("").unwrap(), [None]);
    }
}
