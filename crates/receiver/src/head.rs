//! The headers of a request, however they came: from a file or from a socket.

/// Names and values in their order. Names are in lower case.
#[derive(Debug, Clone, Default)]
pub struct Head(Vec<(String, String)>);

/// The header is there more than once, and nobody can say which one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedHeader;

impl Head {
    /// From text as `curl -D` writes it, or the head of a raw request: up to the first empty line. A line without a
    /// colon, such as the request line, is passed over.
    pub fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let lines = text.trim_start().lines().take_while(|line| !line.trim().is_empty());
        lines.filter_map(|line| line.split_once(':')).collect()
    }

    /// The value of the header with this name, in lower case.
    pub fn find(&self, name: &str) -> Result<Option<&str>, RepeatedHeader> {
        let mut values = self.0.iter().filter(|(known, _)| known == name);
        let first = values.next().map(|(_, value)| value.as_str());
        if values.next().is_none() { Ok(first) } else { Err(RepeatedHeader) }
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Head {
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
    fn heads_are_read_as_tools_write_them() {
        let request =
            "POST /hook HTTP/1.1\r\nHost: a:80\r\nWebhook-Id:  env_1 \r\n\r\nbody: no\r\n";
        for text in [
            request,
            "HTTP/2 200\nwebhook-id: env_1\n",
            "\nWEBHOOK-ID:env_1",
            "webhook-id: env_1\n\n",
        ] {
            let head = Head::parse(text.as_bytes());
            assert_eq!(head.find("webhook-id"), Ok(Some("env_1")), "{text}");
            assert_eq!(head.find("body"), Ok(None), "{text}");
        }
        assert_eq!(Head::parse(b"a: 1\nA: 1").find("a"), Err(RepeatedHeader));
        assert_eq!(Head::parse(b"\xff\xfe: 1\n:\n\n").find("a"), Ok(None));
    }
}
