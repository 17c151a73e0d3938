//! Parses a URL on the command line as text. The crate that uses the setting checks the parts of the URL.

/// Removes white space and a byte order mark around a URL, as for the database URL. Rejects white space and control
/// characters in the URL, and an empty URL.
pub(super) fn url_text(text: &str) -> Result<String, String> {
    let url = text.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
    if url.is_empty() || url.contains(|char: char| char.is_whitespace() || char.is_control()) {
        return Err("give a URL without white space and line breaks".to_owned());
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_accepted_only_around_a_url() {
        for text in ["https://a.example", "https://a.example\n", "\u{feff}https://a.example\r\n"] {
            assert_eq!(url_text(text).unwrap(), "https://a.example");
        }
        for text in ["", " \n", "https://a.\nexample", "https://a.example https://b.example"] {
            url_text(text).unwrap_err();
        }
    }
}
