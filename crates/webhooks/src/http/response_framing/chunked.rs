//! Reads a chunked body, and writes the same data as a chunked body without extensions and trailers.

use std::io::Write as _;

use super::error::ResponseError;

/// Splits `input` after at most `left` bytes, and subtracts the number of these bytes from `left`. Returns these bytes
/// and the rest.
pub(super) fn split_data<'a>(left: &mut u64, input: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
    *left = left.saturating_sub(u64::try_from(length).unwrap_or(u64::MAX));
    input.split_at(length)
}

/// The expected next part of a chunked body.
#[derive(Debug)]
pub(super) enum ChunkedBody {
    /// The size of a chunk, in hexadecimal digits. `None` before the first digit.
    Size(Option<u64>),
    /// The rest of the line after a size: spaces and extensions.
    Extension(u64),
    /// Data of a chunk, with the number of missing bytes.
    Data(u64),
    /// The line end after the data of a chunk.
    DataEnd,
    /// The fields after the last chunk, with the number of bytes in the current line. An empty line ends them.
    Trailer(usize),
}

impl Default for ChunkedBody {
    fn default() -> Self {
        Self::Size(None)
    }
}

impl ChunkedBody {
    /// Reads at least one byte. Returns the unread rest, and whether the body is complete.
    pub(super) fn read<'a>(
        &mut self,
        input: &'a [u8],
        output: &mut Vec<u8>,
    ) -> Result<(&'a [u8], bool), ResponseError> {
        if let Self::Data(left) = self {
            let (data, rest) = split_data(left, input);
            // Writing to a vector cannot fail.
            drop(write!(output, "{:x}\r\n", data.len()));
            output.extend_from_slice(data);
            output.extend_from_slice(b"\r\n");
            if *left == 0 {
                *self = Self::DataEnd;
            }
            return Ok((rest, false));
        }
        let Some((byte, rest)) = input.split_first() else { return Ok((input, false)) };
        let is_complete = matches!((&self, byte), (Self::Trailer(0), b'\n'));
        if is_complete {
            output.extend_from_slice(b"0\r\n\r\n");
        }
        *self = self.step(*byte)?;
        Ok((rest, is_complete))
    }

    /// Reads one byte outside of chunk data. Returns the part that is expected next. Fails if the byte is not allowed.
    fn step(&self, byte: u8) -> Result<Self, ResponseError> {
        Ok(match (self, byte) {
            (Self::Size(size), _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                let size = size.unwrap_or_default().checked_mul(16).ok_or(ResponseError::Chunk)?;
                Self::Size(Some(size | u64::from(digit)))
            }
            (Self::Size(Some(size)) | Self::Extension(size), b'\n') => match size {
                0 => Self::Trailer(0),
                _ => Self::Data(*size),
            },
            (Self::Size(Some(size)), b'\r' | b' ' | b'\t' | b';') | (Self::Extension(size), _) => {
                Self::Extension(*size)
            }
            (Self::DataEnd, b'\n') => Self::Size(None),
            (Self::DataEnd, b'\r') => Self::DataEnd,
            (Self::Trailer(_), b'\n') => Self::Trailer(0),
            (Self::Trailer(length), b'\r') => Self::Trailer(*length),
            (Self::Trailer(length), _) => Self::Trailer(length.saturating_add(1)),
            (Self::Data(_) | Self::DataEnd | Self::Size(_), _) => return Err(ResponseError::Chunk),
        })
    }
}
