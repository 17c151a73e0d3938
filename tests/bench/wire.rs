//! The parts of HTTP/1.1 for load and receiver: the end of a message and its head.

/// Returns a POST request with a JSON body. `headers` are complete lines.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// One complete request or response.
pub(crate) struct Frame<'a> {
    head: &'a str,
    pub(crate) body: &'a [u8],
    /// The length of head and body together.
    pub(crate) length: usize,
}

/// Returns the first complete message in these bytes.
pub(crate) fn frame(bytes: &[u8]) -> Option<Frame<'_>> {
    let end = bytes.windows(END.len()).position(|window| window == END)?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let body_start = end + END.len();
    let body_length = header(head, "content-length").map_or(Some(0), |text| text.parse().ok())?;
    let length = body_start + body_length;
    Some(Frame { head, body: bytes.get(body_start..length)?, length })
}

impl<'a> Frame<'a> {
    /// Returns the status of a response.
    pub(crate) fn status(&self) -> u16 {
        self.second_word().parse().expect("a response has a status")
    }

    /// Returns the path of a request.
    pub(crate) fn path(&self) -> &str {
        self.second_word()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        header(self.head, name)
    }

    fn second_word(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.split("\r\n").skip(1).find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

const END: &[u8] = b"\r\n\r\n";
