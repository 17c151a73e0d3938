//! As much of HTTP/1.1 as load and receiver need: where a message ends, and what stands in its head.

/// One request or answer, whole.
pub(crate) struct Frame<'a> {
    head: &'a str,
    pub(crate) body: &'a [u8],
    /// Of head and body together.
    pub(crate) length: usize,
}

/// The first message in these bytes, once all of it is there.
pub(crate) fn frame(bytes: &[u8]) -> Option<Frame<'_>> {
    let end = bytes.windows(END.len()).position(|window| window == END)?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let body_start = end + END.len();
    let body_length = header(head, "content-length").map_or(Some(0), |text| text.parse().ok())?;
    let length = body_start + body_length;
    Some(Frame { head, body: bytes.get(body_start..length)?, length })
}

impl Frame<'_> {
    /// Of an answer.
    pub(crate) fn status(&self) -> u16 {
        self.second_word().parse().expect("an answer has a status")
    }

    /// Of a request.
    pub(crate) fn path(&self) -> &str {
        self.second_word()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
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
