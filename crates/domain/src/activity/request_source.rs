//! The client of a request: address and user agent.

use std::{fmt, net::IpAddr};

/// The client of a request, as the HTTP layer sees it. The default is an unknown client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestSource {
    /// IP address of the client. `None` if unknown.
    pub address: Option<IpAddr>,
    /// Name of the client program, from the `User-Agent` header. `None` if unknown.
    pub user_agent: Option<UserAgent>,
}

/// The `User-Agent` header of a client, in printable ASCII and of limited length. Escape the text in pages, because the
/// client chooses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAgent(String);

impl UserAgent {
    /// Maximum length in bytes.
    pub const LEN_MAX: usize = 200;

    /// Creates a user agent from the bytes of the header. Keeps the first [`LEN_MAX`](Self::LEN_MAX) bytes, and
    /// replaces each byte that is not printable ASCII by `?`. Returns `None` if no text is left.
    pub fn new(header: &[u8]) -> Option<Self> {
        let printable =
            |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '?' };
        let kept: String = header.iter().take(Self::LEN_MAX).map(printable).collect();
        let kept = kept.trim();
        (!kept.is_empty()).then(|| Self(kept.to_owned()))
    }

    /// Returns the user agent as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_is_short_and_printable() {
        let kept = |header: &str| UserAgent::new(header.as_bytes()).map(|agent| agent.to_string());
        assert_eq!(kept("curl/8.5 <b>"), Some("curl/8.5 <b>".to_owned()));
        assert_eq!(kept("a\u{202e}b\n\u{1b}[2J"), Some("a???b??[2J".to_owned()));
        assert_eq!(kept(&"x".repeat(4000)).map(|text| text.len()), Some(UserAgent::LEN_MAX));
        assert_eq!([kept(""), kept("  ")], [None, None]);
    }
}
