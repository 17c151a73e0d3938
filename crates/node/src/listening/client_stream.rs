//! Wraps the stream of one client connection.
//!
//! - Passes one request at a time to the HTTP library.
//! - Limits the received bytes that are not processed yet.
//! - Closes the connection if a newer connection evicts it.
//!
//! Without the limit, the HTTP library would buffer 128 KiB of an unfinished request head, and even more of a body that
//! the handler has not consumed.

#[cfg(test)]
mod tests;

use std::{
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_rt::time::{Sleep, sleep};
use sealpost_api::{ConnectionProblems, ConnectionRecord, Problem};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    anonymous::Membership,
    request_framing::RequestFraming,
    response_record::{ResponseRecord, ResponseStage},
};

/// The stream of one client connection, with limits on received bytes that were not processed yet.
pub(super) struct ClientStream<S> {
    stream: S,
    problems: Arc<ConnectionProblems>,
    record: ConnectionRecord,
    response: ResponseRecord,
    /// The connection's place in the set of anonymous connections; `None` for a trusted proxy.
    membership: Option<Membership>,
    head_bytes_max: usize,
    framing: RequestFraming,
    /// Received bytes that were not passed to the HTTP library yet: an incomplete head, or the next requests.
    held: Vec<u8>,
    /// Number of bytes at the start of `held` that belong to the current request and may be passed to the HTTP library.
    passable: usize,
    /// Whether the client has closed its side of the connection.
    has_input_ended: bool,
    /// Number of bytes that were passed to the HTTP library since the last progress. Progress means that a request
    /// began, a part of a body was consumed, or a byte of a response was written.
    waiting: usize,
    /// True if reading has paused once since `waiting` was reset. The pause lets the HTTP library parse all waiting
    /// bytes.
    has_yielded: bool,
    /// Whether a response cannot be written now, because the client does not read.
    is_write_blocked: bool,
    /// The current step of ending the connection. `None` until this stream decides to end it.
    ending: Option<Ending>,
}

/// The steps that end a connection.
enum Ending {
    /// Writing a response. The value is the rest of the response.
    Responding(Vec<u8>),
    /// Reading and dropping input until a timeout. If a socket is closed with unread input, the client may lose the
    /// response.
    Discarding(Pin<Box<Sleep>>),
}

/// The amount of input that the HTTP library may read next.
enum Allowance {
    Bytes(usize),
    /// Reads nothing more from the connection: the response is written, and the client still sends a body that no
    /// handler consumes.
    End,
    /// Reads nothing until the handler consumes a part of the body, or the client reads its responses.
    Pause,
    /// Reads nothing until the HTTP library has parsed the previous bytes.
    Yield,
}

impl<S: AsyncRead + AsyncWrite + Unpin> ClientStream<S> {
    pub(super) fn new(
        stream: S,
        problems: Arc<ConnectionProblems>,
        membership: Option<Membership>,
        head_bytes_max: usize,
    ) -> Self {
        Self {
            stream,
            problems,
            record: ConnectionRecord::default(),
            response: ResponseRecord::default(),
            membership,
            head_bytes_max,
            framing: RequestFraming::new(),
            held: Vec::new(),
            passable: 0,
            has_input_ended: false,
            waiting: 0,
            has_yielded: false,
            is_write_blocked: false,
            ending: None,
        }
    }

    /// Returns the record through which the HTTP handlers report the progress of this connection.
    pub(super) fn record(&self) -> &ConnectionRecord {
        &self.record
    }

    /// Returns the record of the response to the current request.
    pub(super) fn response(&self) -> &ResponseRecord {
        &self.response
    }

    fn allowance(&mut self) -> Allowance {
        if self.record.take_progress() {
            self.reset();
        }
        let is_upgraded = self.record.is_upgraded();
        let is_in_request = self.record.is_in_request() || is_upgraded;
        let limit = match (is_upgraded, is_in_request) {
            (true, _) => FRAME_WAITING_MAX,
            (false, true) => BODY_WAITING_MAX,
            (false, false) => self.head_bytes_max,
        };
        match limit.saturating_sub(self.waiting) {
            0 if !self.has_yielded => {
                self.has_yielded = true;
                Allowance::Yield
            }
            0 if is_in_request || self.is_write_blocked => Allowance::Pause,
            0 => Allowance::End,
            left => Allowance::Bytes(left),
        }
    }

    fn reset(&mut self) {
        self.waiting = 0;
        self.has_yielded = false;
    }

    /// Returns an error instead of `Pending` once a newer connection has evicted this one.
    fn poll_evicted<T>(&self, cx: &Context<'_>) -> Poll<io::Result<T>> {
        match &self.membership {
            Some(membership) => {
                ready!(membership.poll_evicted(cx));
                Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
            }
            None => Poll::Pending,
        }
    }

    /// Passes the next bytes of the current request to the HTTP library. Completes without bytes if the input has
    /// ended, or if the body is broken.
    fn poll_request(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.ending.is_some() {
                return self.poll_end(cx);
            }
            if self.framing.is_broken() && self.passable == 0 {
                return Poll::Ready(Ok(()));
            }
            if self.framing.is_until_close() && self.is_responded() {
                // No request follows, so the connection ends, such as a WebSocket after the close frame of the server.
                // Without this, the HTTP library would wait until the client has closed its side.
                self.ending = Some(Ending::Responding(Vec::new()));
                continue;
            }
            if self.framing.is_complete() && self.passable == 0 {
                if !self.may_begin_next() {
                    return self.poll_ahead(cx, buf);
                }
                self.framing = RequestFraming::new();
                self.response.set(ResponseStage::Awaited);
                self.reset();
            }
            let left = match self.allowance() {
                Allowance::Bytes(left) => left,
                Allowance::End => {
                    self.ending = Some(Ending::Responding(Vec::new()));
                    continue;
                }
                Allowance::Pause => {
                    self.record.wake_on_progress(cx.waker());
                    return Poll::Pending;
                }
                Allowance::Yield => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            };
            if self.pass_held(buf, left) {
                return Poll::Ready(Ok(()));
            }
            if self.ending.is_none() {
                let left = left.min(self.head_bytes_max.saturating_sub(self.held.len()));
                let count = ready!(self.poll_socket(cx, buf, left))?;
                if count == 0 || self.pass_received(buf, count) {
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }

    /// Returns true if the response is written, and the connection stays open for the next request.
    fn may_begin_next(&self) -> bool {
        self.is_responded() && !self.framing.is_last()
    }

    /// Returns true if the response to the current request is written.
    fn is_responded(&self) -> bool {
        self.response.stage() == ResponseStage::Complete && !self.is_write_blocked
    }

    /// Passes at most `left` bytes of `held` to the HTTP library. Returns false if no byte was passed on, because the
    /// head is incomplete or was refused.
    fn pass_held(&mut self, buf: &mut ReadBuf<'_>, left: usize) -> bool {
        if self.passable == 0 && !self.held.is_empty() {
            match self.framing.pass(&mut self.held) {
                Ok(count) => self.passable = count,
                Err(problem) => self.refuse(&problem),
            }
            if self.passable == 0 && self.held.len() >= self.head_bytes_max {
                let limit = self.head_bytes_max;
                self.refuse(&Problem::HeadTooLarge { limit, unit: "bytes" });
            }
        }
        let count = self.passable.min(left).min(buf.remaining());
        buf.put_slice(self.held.get(..count).unwrap_or_default());
        self.held.drain(..count);
        if self.held.is_empty() {
            self.held = Vec::new();
        }
        self.passable = self.passable.saturating_sub(count);
        self.waiting = self.waiting.saturating_add(count);
        count > 0
    }

    /// Divides the last `count` bytes of `buf`, which were just received. The bytes of the current request stay in
    /// `buf` for the HTTP library. The other bytes move to `held`. Returns false if no byte stays.
    fn pass_received(&mut self, buf: &mut ReadBuf<'_>, count: usize) -> bool {
        let start = buf.filled().len().saturating_sub(count);
        let received = buf.filled_mut().get_mut(start..).unwrap_or_default();
        // If a part of a head is in `held`, the received bytes continue this head.
        let checked = if self.held.is_empty() { self.framing.pass(received) } else { Ok(0) };
        let passed = *checked.as_ref().unwrap_or(&0);
        let end = start.saturating_add(passed);
        self.held.extend_from_slice(buf.filled().get(end..).unwrap_or_default());
        buf.set_filled(end);
        if let Err(problem) = checked {
            self.refuse(&problem);
        }
        self.waiting = self.waiting.saturating_add(passed);
        passed > 0
    }

    /// Receives the next requests into `held` while the response to the current request is not written yet. Completes
    /// only if the connection fails, or if the client has closed its side and `held` is empty.
    fn poll_ahead(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let left = self.head_bytes_max.saturating_sub(self.held.len());
            if self.has_input_ended && self.held.is_empty() {
                return Poll::Ready(Ok(()));
            }
            if self.has_input_ended || left == 0 {
                return Poll::Pending;
            }
            let start = buf.filled().len();
            ready!(self.poll_socket(cx, buf, left))?;
            self.held.extend_from_slice(buf.filled().get(start..).unwrap_or_default());
            buf.set_filled(start);
        }
    }

    /// Receives at most `left` bytes, and returns their number.
    fn poll_socket(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        left: usize,
    ) -> Poll<io::Result<usize>> {
        if self.has_input_ended {
            return Poll::Ready(Ok(0));
        }
        let before = buf.filled().len();
        if buf.remaining() <= left {
            ready!(pin!(&mut self.stream).poll_read(cx, buf))?;
        } else {
            let mut part = ReadBuf::new(buf.initialize_unfilled_to(left));
            ready!(pin!(&mut self.stream).poll_read(cx, &mut part))?;
            let count = part.filled().len();
            buf.advance(count);
        }
        let count = buf.filled().len().saturating_sub(before);
        self.has_input_ended = count == 0;
        Poll::Ready(Ok(count))
    }

    /// Ends the connection with an error response.
    fn refuse(&mut self, problem: &Problem) {
        if self.ending.is_none() {
            let response = self.problems.message(problem, &self.held);
            self.ending = Some(Ending::Responding(response));
        }
    }

    /// Ends the connection: writes the rest of the last response, and discards further input. Then completes with no
    /// bytes read, so that the HTTP library sees the end of the input.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match &mut self.ending {
                None => return Poll::Ready(Ok(())),
                Some(Ending::Responding(rest)) if rest.is_empty() => {
                    ready!(pin!(&mut self.stream).poll_flush(cx))?;
                    ready!(pin!(&mut self.stream).poll_shutdown(cx))?;
                    self.ending = Some(Ending::Discarding(Box::pin(sleep(DISCARD_TIMEOUT))));
                }
                Some(Ending::Responding(rest)) => {
                    let written = ready!(pin!(&mut self.stream).poll_write(cx, rest))?;
                    rest.drain(..written);
                }
                Some(Ending::Discarding(end)) => {
                    if self.has_input_ended || end.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(Ok(()));
                    }
                    let mut bytes = [0; 1024];
                    let mut dropped = ReadBuf::new(&mut bytes);
                    ready!(pin!(&mut self.stream).poll_read(cx, &mut dropped))?;
                    self.has_input_ended = dropped.filled().is_empty();
                }
            }
        }
    }

    /// Replaces `response`, an error response without a body that the HTTP library has created without a handler.
    /// Writes an error response with a body, and then completes as if `response` was written.
    fn poll_replace(&mut self, cx: &mut Context<'_>, response: &[u8]) -> Poll<io::Result<usize>> {
        let is_timeout = response.get(..12).is_some_and(|line| line.ends_with(b" 408"));
        self.refuse(if is_timeout {
            &Problem::HeadTimeout
        } else {
            &Problem::InvalidHttp { field: None, problem: "the path or a header has a wrong form" }
        });
        while let Some(Ending::Responding(rest)) = &mut self.ending
            && !rest.is_empty()
        {
            let written = ready!(pin!(&mut self.stream).poll_write(cx, rest))?;
            rest.drain(..written);
        }
        Poll::Ready(Ok(response.len()))
    }

    fn note_write(&mut self, cx: &Context<'_>, written: &Poll<io::Result<usize>>) {
        self.note_blocked(cx, written.is_pending());
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.reset();
        }
        if let Some(membership) = &mut self.membership {
            if self.record.is_authenticated() {
                membership.leave();
            } else if membership.join() {
                // The next read waits for the eviction.
                cx.waker().wake_by_ref();
            }
        }
    }

    /// Records whether a write is blocked. When the write is no longer blocked, wakes the task so that a paused read
    /// continues.
    fn note_blocked(&mut self, cx: &Context<'_>, is_blocked: bool) {
        if self.is_write_blocked && !is_blocked {
            cx.waker().wake_by_ref();
        }
        self.is_write_blocked = is_blocked;
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.poll_request(cx, buf);
        if read.is_pending() { self.poll_evicted(cx) } else { read }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let is_without_handler = self.response.stage() == ResponseStage::Awaited;
        let written = if is_without_handler {
            self.poll_replace(cx, buf)
        } else {
            pin!(&mut self.stream).poll_write(cx, buf)
        };
        self.note_write(cx, &written);
        if written.is_pending() { self.poll_evicted(cx) } else { written }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = pin!(&mut self.stream).poll_flush(cx);
        self.note_blocked(cx, flushed.is_pending());
        if !self.held.is_empty() && self.framing.is_complete() && self.may_begin_next() {
            cx.waker().wake_by_ref();
        }
        if flushed.is_pending() { self.poll_evicted(cx) } else { flushed }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The client may have sent further requests before it has read the last response. `poll_end` discards these
        // requests.
        if self.framing.is_last() && self.ending.is_none() {
            self.ending = Some(Ending::Responding(Vec::new()));
        }
        let shut = if self.ending.is_some() {
            self.poll_end(cx)
        } else {
            pin!(&mut self.stream).poll_shutdown(cx)
        };
        if shut.is_pending() { self.poll_evicted(cx) } else { shut }
    }
}

const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of body bytes that were read from the socket and not yet consumed by a handler. The largest HTML form
/// must fit, because the web pages do not report consumed bytes.
const BODY_WAITING_MAX: usize = 32 * 1024;
/// Maximum number of bytes of a WebSocket that were read and not yet consumed as a frame. The largest frame that a
/// relay accepts must fit with its head: 65,536 and 14 bytes.
const FRAME_WAITING_MAX: usize = 65_550;
