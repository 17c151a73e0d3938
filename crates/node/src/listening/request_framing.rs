//! Finds the ends of the requests on a connection, so that the HTTP library gets one request at a time.
//!
//! The HTTP library parses pipelined requests ahead. Without this module, the library would execute requests after
//! `Connection: close`. It would also apply the method and the `Connection` header of the next request to a response.

use sealpost_api::Problem;

use super::{
    chunked_body::ChunkedBody,
    request_head::{BodyFraming, RequestHead},
};

/// The current request of a connection, and the part of it that was not passed to the HTTP library yet.
#[derive(Debug)]
pub(super) struct RequestFraming {
    /// The rest of the body. `None` while the head is not complete: then no byte was passed on.
    body: Option<BodyFraming>,
    is_last: bool,
}

impl RequestFraming {
    /// Creates the framing of a request of which no byte was passed on.
    pub(super) fn new() -> Self {
        Self { body: None, is_last: false }
    }

    /// Returns true if all bytes of the request were passed on.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.body, Some(BodyFraming::Length(0) | BodyFraming::Chunked(ChunkedBody::End)))
    }

    /// Returns true if the body cannot be read to its end, because its chunked coding is broken.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.body, Some(BodyFraming::Chunked(ChunkedBody::Broken)))
    }

    /// Returns true if all further bytes of the connection belong to the request, as after a WebSocket handshake.
    pub(super) fn is_until_close(&self) -> bool {
        matches!(self.body, Some(BodyFraming::UntilClose))
    }

    /// Returns true if the connection closes after the response to this request.
    pub(super) fn is_last(&self) -> bool {
        self.is_last
    }

    /// Returns the number of bytes at the start of `bytes` that belong to the current request. Only these bytes go to
    /// the HTTP library. Returns 0 while the head is incomplete, and an error if the head is invalid.
    pub(super) fn pass(&mut self, bytes: &mut [u8]) -> Result<usize, Problem> {
        let mut passed = 0;
        if self.body.is_none() {
            let Some(RequestHead { length, body, is_last }) = RequestHead::parse(bytes)? else {
                return Ok(0);
            };
            (self.is_last, self.body) = (is_last, Some(body));
            passed = length;
        }
        let rest = bytes.get(passed..).unwrap_or_default();
        let of_body = match &mut self.body {
            None => 0,
            Some(BodyFraming::Chunked(body)) => body.scan(rest),
            Some(BodyFraming::Length(missing)) => {
                let count = usize::try_from(*missing).map_or(rest.len(), |all| all.min(rest.len()));
                *missing = missing.saturating_sub(u64::try_from(count).unwrap_or(*missing));
                count
            }
            Some(BodyFraming::UntilClose) => rest.len(),
        };
        Ok(passed.saturating_add(of_body))
    }
}
