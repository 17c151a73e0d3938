//! Parses the head of a request. Finds out where the request ends, and whether the connection closes after the request.
//! The HTTP library later parses the same head again, with the same parser.

use std::ops::Range;

use actix_http::Uri;
use httparse::{Error, Header, Request, Status};
use sealpost_api::Problem;

use super::chunked_body::ChunkedBody;

/// The properties of a complete request head.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    /// The length of the head in bytes, with the empty line at its end.
    pub(super) length: usize,
    pub(super) body: BodyFraming,
    /// Whether the connection closes after the response to this request (RFC 9112, section 9.6).
    pub(super) is_last: bool,
}

/// The rest of a request body, in the form that determines its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFraming {
    Chunked(ChunkedBody),
    /// The number of bytes that are missing.
    Length(u64),
    /// All further bytes of the connection belong to the request: CONNECT, and upgrades to WebSocket.
    UntilClose,
}

impl RequestHead {
    /// Parses the head at the start of `bytes`. Returns `None` if the head is incomplete. If the head asks for a
    /// protocol upgrade that is not supported, overwrites the header values of the upgrade with spaces, so that the
    /// HTTP library ignores the upgrade. Only a GET without a body can upgrade, to WebSocket.
    pub(super) fn parse(bytes: &mut [u8]) -> Result<Option<Self>, Problem> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Ok(None),
            Err(error) => return Err(refuse_syntax(error)),
        };
        check_target(request.path.unwrap_or_default())?;
        let fields = HeadFields::read(&request, bytes.as_ptr().addr())?;
        let body = fields.body();
        let head = Self { length, body, is_last: fields.is_last() };
        let ignored = if body == BodyFraming::UntilClose { Vec::new() } else { fields.upgrades };
        for range in ignored {
            bytes.get_mut(range).into_iter().for_each(|upgrade| upgrade.fill(b' '));
        }
        Ok(Some(head))
    }
}

/// The fields of a request head that concern the connection.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "headers have these options independently")]
struct HeadFields<'a> {
    method: &'a str,
    is_http_1_0: bool,
    has_host: bool,
    content_length: Option<u64>,
    is_chunked: bool,
    closes: bool,
    keeps_alive: bool,
    wants_upgrade: bool,
    is_websocket: bool,
    /// The byte ranges in the head of each value of `Upgrade`, and of each option `upgrade` in `Connection`.
    /// [`RequestHead::parse`] overwrites them if the upgrade is not supported.
    upgrades: Vec<Range<usize>>,
}

impl<'a> HeadFields<'a> {
    /// Reads the fields of a head whose first byte is at the address `start`.
    fn read(request: &Request<'_, 'a>, start: usize) -> Result<Self, Problem> {
        let mut fields = Self {
            method: request.method.unwrap_or_default(),
            is_http_1_0: request.version == Some(0),
            ..Self::default()
        };
        for header in &*request.headers {
            fields.add(header, start)?;
        }
        fields.check()?;
        Ok(fields)
    }

    fn add(&mut self, header: &Header<'_>, start: usize) -> Result<(), Problem> {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        // Compares the length first, because most headers have a length that no name below has.
        match header.name.len() {
            4 if is("host") => {
                if self.has_host {
                    return Err(refuse("Host", "must be sent once"));
                }
                if !header.value.iter().all(|byte| is_host_byte(*byte)) {
                    return Err(refuse(
                        "Host",
                        "must be a host name or an IP address, with or without a port",
                    ));
                }
                self.has_host = true;
            }
            7 if is("upgrade") => {
                self.is_websocket |= header.value.trim_ascii().eq_ignore_ascii_case(b"websocket");
                self.upgrades.push(place(header.value, start));
            }
            10 if is("connection") => self.add_connection(header.value, start),
            14 if is("content-length") => {
                if self.content_length.is_some() {
                    return Err(refuse("Content-Length", "must be sent once"));
                }
                self.content_length = Some(length(header.value)?);
            }
            17 if is("transfer-encoding") => {
                if self.is_chunked || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err(refuse("Transfer-Encoding", "must be `chunked`, sent once"));
                }
                self.is_chunked = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn add_connection(&mut self, value: &[u8], start: usize) {
        for option in value.split(|byte| *byte == b',') {
            let is = |name: &[u8]| option.trim_ascii().eq_ignore_ascii_case(name);
            self.closes |= is(b"close");
            self.keeps_alive |= is(b"keep-alive");
            if is(b"upgrade") {
                self.wants_upgrade = true;
                self.upgrades.push(place(option, start));
            }
        }
    }

    /// Refuses heads from which the end of the body cannot be determined (RFC 9112, section 6.3), and heads without
    /// `Host`.
    fn check(&self) -> Result<(), Problem> {
        if self.is_chunked && self.content_length.is_some() {
            return Err(refuse(
                "Transfer-Encoding",
                "must not be sent together with Content-Length",
            ));
        }
        if self.is_chunked && self.is_http_1_0 {
            return Err(refuse("Transfer-Encoding", "needs HTTP/1.1"));
        }
        if self.is_http_1_0 && self.method == "POST" && self.content_length.is_none() {
            return Err(refuse("Content-Length", "must be sent with POST in HTTP/1.0"));
        }
        if !self.is_http_1_0 && !self.has_host {
            return Err(refuse("Host", "must be sent, such as `Host: sealpost.example`"));
        }
        Ok(())
    }

    fn body(&self) -> BodyFraming {
        let has_none = !self.is_chunked && self.content_length.unwrap_or(0) == 0;
        let is_upgrade = self.is_websocket && self.wants_upgrade && !self.is_http_1_0;
        let ends_http = self.method == "CONNECT" || (self.method == "GET" && is_upgrade);
        match self.content_length {
            _ if self.is_chunked => BodyFraming::Chunked(ChunkedBody::START),
            _ if has_none && ends_http => BodyFraming::UntilClose,
            length => BodyFraming::Length(length.unwrap_or(0)),
        }
    }

    fn is_last(&self) -> bool {
        self.closes || (self.is_http_1_0 && !self.keeps_alive)
    }
}

/// Refuses a target that is not a URI, or that is longer than the HTTP library can parse. The HTTP library would log
/// such a fault of the client as an error of the server.
fn check_target(target: &str) -> Result<(), Problem> {
    if target.len() > TARGET_BYTES_MAX {
        let (limit, unit) = (TARGET_BYTES_MAX, "bytes of path and query");
        return Err(Problem::HeadTooLarge { limit, unit });
    }
    let refuse = |_invalid| Problem::InvalidHttp { field: None, problem: INVALID_TARGET };
    target.parse::<Uri>().map(drop).map_err(refuse)
}

/// Returns the byte range of `part` in the head whose first byte is at the address `start`.
fn place(part: &[u8], start: usize) -> Range<usize> {
    let first = part.as_ptr().addr().saturating_sub(start);
    first..first.saturating_add(part.len())
}

/// Returns true for the characters of a host and a port (RFC 3986, section 3.2).
fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(&byte)
}

fn length(value: &[u8]) -> Result<u64, Problem> {
    let digits = value.trim_ascii();
    let text = str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_digit));
    let length = text.and_then(|text| text.parse().ok());
    length.ok_or_else(|| refuse("Content-Length", "must be a whole number of bytes"))
}

fn refuse(field: &'static str, problem: &'static str) -> Problem {
    Problem::InvalidHttp { field: Some(field), problem }
}

fn refuse_syntax(error: Error) -> Problem {
    let problem = match error {
        Error::HeaderName => "a header name is invalid: names have no spaces, and end at the colon",
        Error::HeaderValue => "a header value has a control character",
        Error::NewLine => "a line of the head does not end with CR LF",
        Error::TooManyHeaders => {
            return Problem::HeadTooLarge { limit: HEADERS_MAX, unit: "headers" };
        }
        Error::Version => "the version is not HTTP/1.1",
        Error::Status | Error::Token => {
            "the first line is not `METHOD PATH HTTP/1.1`; percent-encode spaces in the path"
        }
    };
    Problem::InvalidHttp { field: None, problem }
}

const INVALID_TARGET: &str = "the path or query is not part of a URI: start with a slash, and percent-encode special characters";
/// Maximum length of a URI in the HTTP library.
const TARGET_BYTES_MAX: usize = 65_534;
/// Maximum number of headers of a request. The HTTP library has the same limit.
const HEADERS_MAX: usize = 96;
