//! The `Forwarded` header (RFC 7239), as far as it says for whom a proxy asks.

/// The `for` of each element of one line, from left to right; `None` for an element without a readable one, and for
/// the whole where a quote stays open, because then nobody can tell where elements end.
pub(crate) fn nodes(line: &str) -> Option<Vec<Option<String>>> {
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

/// Splits where the separator stands outside of quotes; `None` where a quote stays open.
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
        // An address needs no escapes, so whoever uses one is up to something.
        Some(rest) => rest.strip_suffix('"').filter(|text| !text.contains(['"', '\\'])),
        None => Some(value),
    }
    .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_inside_quotes_separate_nothing() {
        let line = r#"for="_a,b;c";by=x, by="for=1.1.1.1";for=_d ,proto=http"#;
        let found = nodes(line).unwrap();
        assert_eq!(found, [Some("_a,b;c".to_owned()), Some("_d".to_owned()), None]);
    }

    #[test]
    fn what_is_ambiguous_is_not_read() {
        assert_eq!(nodes(r#"for="a"#), None);
        assert_eq!(nodes(r#"for="a\""#), None);
        assert_eq!(nodes("for=1.1.1.1;for=2.2.2.2").unwrap(), [None]);
        assert_eq!(nodes(r#"for="a"b"#).unwrap(), [None]);
        assert_eq!(nodes("").unwrap(), [None]);
    }
}
