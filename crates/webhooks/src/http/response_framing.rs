//! Parses the bytes that a receiver sends. Finds the final response and its end, and decides whether the connection may
//! be reused.
//!
//! Does no I/O: takes bytes and returns bytes. Removes interim responses (1xx), and rewrites the final response to a
//! form with exactly one meaning. The HTTP client awc takes the first head as the response, and reuses a connection
//! after a response without a length. For the rewritten response, this behaviour of awc is correct.

mod chunked;
mod error;
#[cfg(test)]
mod tests;

use std::{io::Write as _, mem, str};

use httparse::{EMPTY_HEADER, Header, ParserConfig, Response, Status};

use self::chunked::{ChunkedBody, split_data};
pub(crate) use self::error::ResponseError;

/// Reads the responses of one connection, one for each request.
#[derive(Debug, Default)]
pub(super) struct ResponseFraming {
    state: State,
    /// The beginning of an unfinished head.
    head: Vec<u8>,
    /// Number of bytes in the last, unfinished line of `head`, without its end.
    line_length: usize,
    /// Number of bytes in all heads of the current response, interim ones included.
    heads_length: usize,
    /// Whether the connection must not carry another request after the current response.
    is_last: bool,
}

/// The expected content of the next bytes. A connection is opened for a request, so the first state is `Head`.
#[derive(Debug, Default)]
enum State {
    /// A head is due: the final one, or an interim one before it.
    #[default]
    Head,
    Body(Body),
    /// No response is due, and the connection may carry another request.
    Idle,
    /// The connection must not carry another request, and all further bytes are ignored.
    Ended,
}

/// The rule for the end of a body.
#[derive(Debug)]
enum Body {
    Chunked(ChunkedBody),
    /// The body ends after this number of bytes.
    Length(u64),
    /// The body ends when the receiver closes the connection.
    ToEnd,
}

impl ResponseFraming {
    /// Prepares for the response to a further request. Has no effect if a response is already expected. Must be called
    /// before each write to the connection.
    pub(super) fn expect_response(&mut self) {
        if matches!(self.state, State::Idle) {
            *self = Self { head: mem::take(&mut self.head), ..Self::default() };
        }
    }

    /// Ends the connection after the current response, because the request was not sent completely.
    pub(super) fn end_after_response(&mut self) {
        self.is_last = true;
    }

    /// Returns true if all further bytes of the connection are ignored.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// Reads the next bytes of the connection, and appends the final response to `output`. A fault ends the connection.
    pub(super) fn read(
        &mut self,
        mut input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), ResponseError> {
        while !input.is_empty() && !self.has_ended() {
            match self.read_part(input, output) {
                Ok(rest) => input = rest,
                Err(fault) => {
                    self.state = State::Ended;
                    return Err(fault);
                }
            }
        }
        Ok(())
    }

    /// Records that the receiver has closed the connection. Fails if the head of a response is missing or incomplete.
    pub(super) fn end(&mut self) -> Result<(), ResponseError> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Head => Err(ResponseError::Cut),
            State::Body(_) | State::Idle | State::Ended => Ok(()),
        }
    }

    /// Reads at least one byte, and returns the unread rest.
    fn read_part<'a>(
        &mut self,
        input: &'a [u8],
        output: &mut Vec<u8>,
    ) -> Result<&'a [u8], ResponseError> {
        let (rest, is_complete) = match &mut self.state {
            State::Head => return self.read_head(input, output),
            State::Body(Body::Chunked(body)) => body.read(input, output)?,
            State::Body(Body::Length(left)) => {
                let (data, rest) = split_data(left, input);
                output.extend_from_slice(data);
                (rest, *left == 0)
            }
            State::Body(Body::ToEnd) => {
                output.extend_from_slice(input);
                (&[][..], false)
            }
            // The receiver sent these bytes without a request. Ends the connection, because a later response could be
            // matched to the wrong request.
            State::Idle | State::Ended => {
                self.state = State::Ended;
                (&[][..], false)
            }
        };
        if is_complete {
            self.complete();
        }
        Ok(rest)
    }

    fn complete(&mut self) {
        self.state = if self.is_last { State::Ended } else { State::Idle };
    }

    /// Reads up to the end of a head: an empty line. Parses a head only once, however many parts it arrives in. Skips
    /// empty lines before a head.
    fn read_head<'a>(
        &mut self,
        input: &'a [u8],
        output: &mut Vec<u8>,
    ) -> Result<&'a [u8], ResponseError> {
        let is_skipped = |byte: &&u8| self.head.is_empty() && matches!(byte, b'\r' | b'\n');
        let skipped = input.iter().take_while(is_skipped).count();
        let (skipped, input) = input.split_at(skipped);
        let end = input.iter().position(|byte| self.ends_head(*byte));
        let (bytes, rest) = input.split_at(end.map_or(input.len(), |end| end + 1));
        self.heads_length += skipped.len() + bytes.len();
        if self.heads_length > HEADS_LENGTH_MAX {
            return Err(ResponseError::TooLarge);
        }
        self.head.extend_from_slice(bytes);
        if !self.head.iter().zip(HTTP_1).all(|(byte, expected)| byte == expected) {
            return Err(ResponseError::NotHttp);
        }
        if end.is_some() {
            let head = mem::take(&mut self.head);
            self.parse_head(&head, output)?;
            self.head = head;
            self.head.clear();
        }
        Ok(rest)
    }

    /// Counts the bytes of the current line. Returns whether `byte` ends an empty line.
    fn ends_head(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' => mem::take(&mut self.line_length) == 0,
            b'\r' => false,
            _ => {
                self.line_length += 1;
                false
            }
        }
    }

    /// Parses a complete head. Ignores an interim head (1xx). Appends a final head to `output` in rewritten form, and
    /// then expects its body.
    ///
    /// Fails if the head is malformed or has too many fields, or if its status or `Content-Length` is not allowed. The
    /// status 101 is not allowed.
    fn parse_head(&mut self, head: &[u8], output: &mut Vec<u8>) -> Result<(), ResponseError> {
        let mut fields = [EMPTY_HEADER; FIELDS_MAX];
        let mut response = Response::new(&mut fields);
        // A client must accept folded fields (RFC 9112, section 5.2), and spaces before a colon (section 5.1).
        let parsed = ParserConfig::default()
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .parse_response(&mut response, head);
        let (status, minor) = match (parsed, response.code, response.version) {
            (Ok(Status::Complete(_)), Some(status), Some(minor)) => (status, minor),
            (Err(httparse::Error::TooManyHeaders), ..) => return Err(ResponseError::TooLarge),
            (Err(error), ..) => return Err(ResponseError::Malformed(error)),
            (Ok(_), ..) => return Err(ResponseError::Malformed(httparse::Error::NewLine)),
        };
        match status {
            101 => return Err(ResponseError::Switch),
            100..200 => return Ok(()),
            200..1000 => {}
            _ => return Err(ResponseError::Status(status)),
        }
        let (body, is_last) = body_of(status, minor, response.headers)?;
        self.is_last |= is_last;
        write_head(status, response.headers, &body, self.is_last, output);
        self.state = State::Body(body);
        if matches!(self.state, State::Body(Body::Length(0))) {
            self.complete();
        }
        Ok(())
    }
}

/// Returns how the body ends, and whether the connection must not be reused (RFC 9112, sections 6.3 and 9.3).
fn body_of(status: u16, minor: u8, fields: &[Header<'_>]) -> Result<(Body, bool), ResponseError> {
    let has_option = |name: &str| {
        items(fields, "connection").any(|item| item.eq_ignore_ascii_case(name.as_bytes()))
    };
    let persists = !has_option("close") && (minor > 0 || has_option("keep-alive"));
    if matches!(status, 204 | 304) {
        return Ok((Body::Length(0), !persists));
    }
    // `identity` is an old name for no coding.
    let codings =
        items(fields, "transfer-encoding").filter(|it| !it.eq_ignore_ascii_case(b"identity"));
    let codings: Vec<&[u8]> = codings.collect();
    match codings.last() {
        Some(coding) if coding.eq_ignore_ascii_case(b"chunked") => {
            // Chunks take precedence over `Content-Length`. If the response also has a length or another coding, or is
            // HTTP/1.0, the receiver may have meant another end of the body. The connection is then not reused.
            let is_plain = codings.len() == 1 && minor > 0 && !has_field(fields, "content-length");
            Ok((Body::Chunked(ChunkedBody::default()), !(persists && is_plain)))
        }
        None if has_field(fields, "content-length") => {
            Ok((Body::Length(content_length(fields)?), !persists))
        }
        Some(_) | None => Ok((Body::ToEnd, true)),
    }
}

/// Returns the length of the body. Fails if a value of `Content-Length` is invalid, or if several values differ.
fn content_length(fields: &[Header<'_>]) -> Result<u64, ResponseError> {
    let values =
        fields_named(fields, "content-length").flat_map(|value| value.split(|it| *it == b','));
    let mut lengths = values.map(|value| {
        let digits = value.trim_ascii();
        let text = str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_digit));
        text.and_then(|text| text.parse().ok()).ok_or(ResponseError::Length)
    });
    let first = lengths.next().unwrap_or(Err(ResponseError::Length))?;
    if lengths.all(|length| length == Ok(first)) { Ok(first) } else { Err(ResponseError::Length) }
}

/// Writes a head with this status and these fields, each on one line. Replaces all fields about the body and the
/// connection by those that `body` and `is_last` need.
fn write_head(
    status: u16,
    fields: &[Header<'_>],
    body: &Body,
    is_last: bool,
    output: &mut Vec<u8>,
) {
    let kept = fields
        .iter()
        .filter(|field| !REPLACED_FIELDS.iter().any(|name| name.eq_ignore_ascii_case(field.name)));
    // The client reads a body to the end of the connection only in a response of HTTP/1.0.
    let minor = u8::from(!matches!(body, Body::ToEnd));
    // Writing to a vector cannot fail.
    drop(write!(output, "HTTP/1.{minor} {status} \r\n"));
    for field in kept {
        output.extend_from_slice(field.name.as_bytes());
        output.extend_from_slice(b": ");
        let is_fold = |byte: &u8| matches!(byte, b'\r' | b'\n');
        output.extend(field.value.iter().map(|byte| if is_fold(byte) { b' ' } else { *byte }));
        output.extend_from_slice(b"\r\n");
    }
    if is_last {
        output.extend_from_slice(b"connection: close\r\n");
    }
    match body {
        Body::Chunked(_) => output.extend_from_slice(b"transfer-encoding: chunked\r\n"),
        Body::Length(length) => drop(write!(output, "content-length: {length}\r\n")),
        Body::ToEnd => {}
    }
    output.extend_from_slice(b"\r\n");
}

fn fields_named<'a>(fields: &'a [Header<'_>], name: &str) -> impl Iterator<Item = &'a [u8]> {
    fields
        .iter()
        .filter(move |field| field.name.eq_ignore_ascii_case(name))
        .map(|field| field.value)
}

fn has_field(fields: &[Header<'_>], name: &str) -> bool {
    fields_named(fields, name).next().is_some()
}

/// Returns the comma-separated items in all fields with this name. Omits empty items.
fn items<'a>(fields: &'a [Header<'_>], name: &str) -> impl Iterator<Item = &'a [u8]> {
    let items = fields_named(fields, name).flat_map(|value| value.split(|it| *it == b','));
    items.map(<[u8]>::trim_ascii).filter(|item| !item.is_empty())
}

/// The beginning of every response. A response of another protocol is rejected at its first different byte, even if no
/// line end follows.
const HTTP_1: &[u8] = b"HTTP/1.";

/// Fields that the HTTP client would interpret. [`write_head`] replaces or drops them.
const REPLACED_FIELDS: &[&str] =
    &["connection", "content-length", "host", "transfer-encoding", "upgrade"];

/// Maximum number of bytes in all heads of one response, interim ones included.
const HEADS_LENGTH_MAX: usize = 64 * 1024;
/// Maximum number of fields in a head. The HTTP client accepts two more, which [`write_head`] may add.
const FIELDS_MAX: usize = 94;
