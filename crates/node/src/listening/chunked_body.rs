//! Finds the end of a body with the transfer coding `chunked` (RFC 9112, section 7.1).

/// The state of a scan of a chunked body: the position after the last scanned byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkedBody {
    /// In the size of a chunk. `None` before the first digit.
    Size(Option<u64>),
    /// In white space after the size.
    Space(u64),
    Extension(u64),
    /// Before the line feed after a size.
    SizeEnd(u64),
    /// In the data of a chunk, with the number of bytes that are missing.
    Data(u64),
    DataCr,
    DataLf,
    /// At the start of a line after the last chunk.
    TrailerStart,
    /// In a trailer line, which is ignored.
    Trailer,
    /// Before the line feed of a trailer line.
    TrailerLf,
    /// Before the line feed that ends the body.
    EndLf,
    End,
    /// The coding is broken.
    Broken,
}

impl ChunkedBody {
    pub(super) const START: Self = Self::Size(None);

    /// Scans the next bytes of the body, and returns the number of scanned bytes. The scan stops at the end of the
    /// body, or before a byte that breaks the coding.
    pub(super) fn scan(&mut self, bytes: &[u8]) -> usize {
        let mut scanned = 0;
        while let Some(byte) = bytes.get(scanned).filter(|_| !self.is_over()) {
            if let Self::Data(missing) = self {
                let rest = bytes.len().saturating_sub(scanned);
                let count = usize::try_from(*missing).map_or(rest, |missing| missing.min(rest));
                *missing = missing.saturating_sub(u64::try_from(count).unwrap_or(*missing));
                scanned = scanned.saturating_add(count);
                if *missing == 0 {
                    *self = Self::DataCr;
                }
            } else {
                *self = self.after(*byte);
                scanned = scanned.saturating_add(usize::from(*self != Self::Broken));
            }
        }
        scanned
    }

    fn is_over(self) -> bool {
        matches!(self, Self::Broken | Self::End)
    }

    /// Returns the state after one byte outside of chunk data.
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Size(Some(size)) | Self::Space(size) | Self::Extension(size), b'\r') => {
                Self::SizeEnd(size)
            }
            (Self::Size(Some(size)) | Self::Space(size), b'\t' | b' ') => Self::Space(size),
            (Self::Size(Some(size)) | Self::Space(size), b';')
            | (Self::Extension(size), b'\t' | b' '..=b'~' | 0x80..) => Self::Extension(size),
            (Self::Size(size), digit) => {
                let digit = char::from(digit).to_digit(16).map(u64::from);
                let size = size.unwrap_or(0).checked_mul(16);
                let size = size.zip(digit).map(|(size, digit)| size.saturating_add(digit));
                size.map_or(Self::Broken, |size| Self::Size(Some(size)))
            }
            (Self::SizeEnd(0) | Self::TrailerLf, b'\n') => Self::TrailerStart,
            (Self::SizeEnd(size), b'\n') => Self::Data(size),
            (Self::DataCr, b'\r') => Self::DataLf,
            (Self::DataLf, b'\n') => Self::START,
            (Self::TrailerStart, b'\r') => Self::EndLf,
            (Self::Trailer, b'\r') => Self::TrailerLf,
            (Self::TrailerStart | Self::Trailer, _) => Self::Trailer,
            (Self::EndLf, b'\n') => Self::End,
            _ => Self::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans a text in pieces of `size` bytes. Returns the final state and the number of scanned bytes.
    fn scan(text: &str, size: usize) -> (ChunkedBody, usize) {
        let (mut body, mut scanned) = (ChunkedBody::START, 0);
        for piece in text.as_bytes().chunks(size) {
            scanned += body.scan(piece);
        }
        (body, scanned)
    }

    #[test]
    fn the_end_of_a_body_is_found_in_pieces_of_each_size() {
        for whole in [
            "0\r\n\r\n",
            "5\r\nab\r\nc\r\n0\r\n\r\n",
            "1\r\na\r\n0a ;x=\"y\"\r\n0123456789\r\n0\r\nA: b\r\nC: d\r\n\r\n",
        ] {
            let text = format!("{whole}GET /next HTTP/1.1\r\n\r\n");
            for size in [1, 2, 3, 1000] {
                assert_eq!(scan(&text, size), (ChunkedBody::End, whole.len()), "{whole} {size}");
            }
        }
    }

    #[test]
    fn a_broken_coding_ends_before_the_broken_byte() {
        for (text, end) in [
            ("zz\r\n", 0),
            ("\r\n", 0),
            ("1\n", 1),
            ("1\r\nab\r\n", 4),
            ("1\r\na\n", 4),
            ("10000000000000000\r\n", 16),
            ("1 2\r\n", 2),
            ("1;a\u{1}\r\n", 3),
            ("0\r\n\rX", 4),
        ] {
            assert_eq!(scan(text, 1), (ChunkedBody::Broken, end), "{text:?}");
        }
    }
}
