//! The headers and the body of a webhook request that was received from a socket or read from a file.

/// The headers of a request, in the order of the request. Names are in lower case.
#[derive(Debug, Clone, Default)]
pub struct HeaderList(Vec<(String, String)>);

/// A request as it was received.
#[derive(Debug, Clone, Copy)]
pub struct ReceivedRequest<'a> {
    /// The headers of the request.
    pub headers: &'a HeaderList,
    /// The body, byte for byte as received.
    pub body: &'a [u8],
}

/// The error for a header that occurs more than once in a request, so that its value is ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the header is repeated")]
pub struct RepeatedHeader;

impl HeaderList {
    /// Parses headers up to the first empty line. Accepts the file that `curl -D` writes, or a raw HTTP request.
    /// Ignores lines without a colon, such as the request line.
    pub fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let lines = text.trim_start().lines().take_while(|line| !line.trim().is_empty());
        lines.filter_map(|line| line.split_once(':')).collect()
    }

    /// Returns the value of a header; `None` if the header is missing. Fails if the header occurs more than once.
    /// `name` is in lower case.
    pub fn find(&self, name: &str) -> Result<Option<&str>, RepeatedHeader> {
        let mut values = self.0.iter().filter(|(known, _)| known == name);
        let first = values.next().map(|(_, value)| value.as_str());
        if values.next().is_none() { Ok(first) } else { Err(RepeatedHeader) }
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for HeaderList {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        let tidy = |(name, value): (&str, &str)| {
            (name.trim().to_ascii_lowercase(), value.trim().to_owned())
        };
        Self(pairs.into_iter().map(tidy).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_raw_requests_and_curl_are_read() {
        let request =
            "POST /hook HTTP/1.1\r\nHost: a:80\r\nWebhook-Id:  env_1 \r\n\r\nbody: no\r\n";
        for text in [
            request,
            "HTTP/2 200\nwebhook-id: env_1\n",
            "\nWEBHOOK-ID:env_1",
            "webhook-id: env_1\n\n",
        ] {
            let headers = HeaderList::parse(text.as_bytes());
            assert_eq!(headers.find("webhook-id"), Ok(Some("env_1")), "{text}");
            assert_eq!(headers.find("body"), Ok(None), "{text}");
        }
        assert_eq!(HeaderList::parse(b"a: 1\nA: 1").find("a"), Err(RepeatedHeader));
        assert_eq!(HeaderList::parse(b"\xff\xfe: 1\n:\n\n").find("a"), Ok(None));
    }
}
