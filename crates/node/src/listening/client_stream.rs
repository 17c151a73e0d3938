//! Wraps the stream of one client connection. Limits the bytes that were received and not yet processed, and closes the
//! connection if a newer connection evicts it.
//!
//! Without the limit, the HTTP library would buffer 128 KiB of an unfinished request head, and even more of a body that
//! the handler has not consumed.

use std::{
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_rt::time::{Sleep, sleep};
use sealpost_api::ConnectionRecord;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::anonymous::Membership;

/// The stream of one client connection, with limits on received bytes that were not processed yet.
pub(super) struct ClientStream<S> {
    stream: S,
    record: ConnectionRecord,
    /// The connection's place in the set of anonymous connections; `None` after the client has authenticated.
    membership: Option<Membership>,
    head_bytes_max: usize,
    /// Number of bytes that were read since the last progress. Progress means that a request began, a part of a body
    /// was consumed, or a byte of a response was written.
    waiting: usize,
    /// Whether reading has paused once since the last progress, so that the HTTP library could parse all waiting bytes.
    has_yielded: bool,
    has_responded: bool,
    /// Whether a response cannot be written now, because the client does not read.
    is_write_blocked: bool,
    refusal: Option<HeadRefusal>,
}

/// The steps that end a connection with a request head that is too large.
enum HeadRefusal {
    /// Writing the response. The value is the rest of the response.
    Responding(&'static [u8]),
    /// Reading and dropping input until a timeout. If a socket is closed with unread input, the client may lose the
    /// response.
    Discarding(Pin<Box<Sleep>>),
}

/// The amount of input that the HTTP library may read next.
enum Allowance {
    Bytes(usize),
    /// Reads nothing until the handler consumes a part of the body, or the client reads its responses.
    Pause,
    Refused,
    /// Reads nothing until the HTTP library has parsed the previous bytes.
    Yield,
}

impl<S: AsyncRead + AsyncWrite + Unpin> ClientStream<S> {
    pub(super) fn new(stream: S, membership: Option<Membership>, head_bytes_max: usize) -> Self {
        Self {
            stream,
            record: ConnectionRecord::default(),
            membership,
            head_bytes_max,
            waiting: 0,
            has_yielded: false,
            has_responded: false,
            is_write_blocked: false,
            refusal: None,
        }
    }

    /// Returns the record through which the HTTP handlers report the progress of this connection.
    pub(super) fn record(&self) -> &ConnectionRecord {
        &self.record
    }

    fn allowance(&mut self) -> Allowance {
        if self.record.take_progress() {
            self.reset();
        }
        let is_in_request = self.record.is_in_request();
        let limit = if is_in_request { BODY_WAITING_MAX } else { self.head_bytes_max };
        match limit.saturating_sub(self.waiting) {
            0 if !self.has_yielded => {
                self.has_yielded = true;
                Allowance::Yield
            }
            0 if is_in_request || self.is_write_blocked => Allowance::Pause,
            0 => Allowance::Refused,
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

    /// Reads at most `left` bytes from the client, and counts them as waiting (not yet processed).
    fn poll_some(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        left: usize,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = if buf.remaining() <= left {
            pin!(&mut self.stream).poll_read(cx, buf)
        } else {
            let mut part = ReadBuf::new(buf.initialize_unfilled_to(left));
            let read = pin!(&mut self.stream).poll_read(cx, &mut part);
            let count = part.filled().len();
            buf.advance(count);
            read
        };
        self.waiting = self.waiting.saturating_add(buf.filled().len().saturating_sub(before));
        read
    }

    /// Responds with status 431 to a request head that is too large, then discards further input. Finally completes
    /// with no bytes read, so that the HTTP library sees the end of the input.
    fn poll_refused(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match &mut self.refusal {
                None => {
                    let response = if self.has_responded { &[] } else { HEAD_TOO_LARGE };
                    self.refusal = Some(HeadRefusal::Responding(response));
                }
                Some(HeadRefusal::Responding([])) => {
                    ready!(pin!(&mut self.stream).poll_flush(cx))?;
                    self.refusal = Some(HeadRefusal::Discarding(Box::pin(sleep(DISCARD_TIMEOUT))));
                }
                Some(HeadRefusal::Responding(rest)) => {
                    let written = ready!(pin!(&mut self.stream).poll_write(cx, rest))?;
                    *rest = rest.get(written.max(1)..).unwrap_or_default();
                }
                Some(HeadRefusal::Discarding(end)) => {
                    if end.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(Ok(()));
                    }
                    let mut bytes = [0; 1024];
                    let mut dropped = ReadBuf::new(&mut bytes);
                    ready!(pin!(&mut self.stream).poll_read(cx, &mut dropped))?;
                    if dropped.filled().is_empty() {
                        return Poll::Ready(Ok(()));
                    }
                }
            }
        }
    }

    fn note_write(&mut self, cx: &Context<'_>, written: &Poll<io::Result<usize>>) {
        self.note_blocked(cx, written.is_pending());
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.reset();
            self.has_responded = true;
        }
        if self.record.is_authenticated() {
            self.membership = None;
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
        let this = &mut *self;
        let allowance = if this.refusal.is_some() { Allowance::Refused } else { this.allowance() };
        let read = match allowance {
            Allowance::Bytes(left) => this.poll_some(cx, buf, left),
            Allowance::Pause => {
                this.record.wake_on_progress(cx.waker());
                Poll::Pending
            }
            Allowance::Refused => this.poll_refused(cx),
            Allowance::Yield => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        };
        if read.is_pending() { this.poll_evicted(cx) } else { read }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = pin!(&mut self.stream).poll_write(cx, buf);
        self.note_write(cx, &written);
        if written.is_pending() { self.poll_evicted(cx) } else { written }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = pin!(&mut self.stream).poll_write_vectored(cx, bufs);
        self.note_write(cx, &written);
        if written.is_pending() { self.poll_evicted(cx) } else { written }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = pin!(&mut self.stream).poll_flush(cx);
        self.note_blocked(cx, flushed.is_pending());
        if flushed.is_pending() { self.poll_evicted(cx) } else { flushed }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = pin!(&mut self.stream).poll_shutdown(cx);
        if shut.is_pending() { self.poll_evicted(cx) } else { shut }
    }
}

const HEAD_TOO_LARGE: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of body bytes that were read from the socket and not yet consumed by a handler. The largest HTML form
/// must fit, because the web pages do not report consumed bytes.
const BODY_WAITING_MAX: usize = 32 * 1024;

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// A client that sends endlessly.
    struct Endless {
        reads_responses: bool,
    }

    impl AsyncRead for Endless {
        fn poll_read(
            self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            buf.put_slice(&vec![b'a'; buf.remaining()]);
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Endless {
        fn poll_write(
            self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            if self.reads_responses { Poll::Ready(Ok(buf.len())) } else { Poll::Pending }
        }

        fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Reads once and returns the number of bytes. Returns `None` if the stream is not ready.
    fn read_once(stream: &mut ClientStream<Endless>) -> Option<usize> {
        let mut bytes = [0; 8192];
        let mut buf = ReadBuf::new(&mut bytes);
        match pin!(stream).poll_read(&mut Context::from_waker(Waker::noop()), &mut buf) {
            Poll::Ready(read) => read.map(|()| Some(buf.filled().len())).unwrap(),
            Poll::Pending => None,
        }
    }

    fn read_all(stream: &mut ClientStream<Endless>) -> usize {
        let mut count = 0;
        // Polls several times, because one of the polls reads nothing and only lets the HTTP library parse.
        for _ in 0..4 {
            while let Some(more) = read_once(stream) {
                count += more;
            }
        }
        count
    }

    #[test]
    fn a_body_waits_in_the_socket_until_it_is_consumed() {
        let mut stream = ClientStream::new(Endless { reads_responses: true }, None, 1000);
        let record = stream.record().clone();
        assert_eq!(read_once(&mut stream), Some(1000), "at most the limit of a head is read");
        assert_eq!(read_once(&mut stream), None);
        record.begin_request();
        assert_eq!(read_all(&mut stream), BODY_WAITING_MAX);
        assert_eq!(read_all(&mut stream), 0);
        record.consume_body();
        assert_eq!(read_all(&mut stream), BODY_WAITING_MAX);
    }

    #[test]
    fn requests_wait_in_the_socket_while_the_client_reads_no_response() {
        let mut stream = ClientStream::new(Endless { reads_responses: false }, None, 1000);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(pin!(&mut stream).poll_write(&mut cx, b"response").is_pending());
        assert_eq!(read_all(&mut stream), 1000);
        assert_eq!(read_all(&mut stream), 0);
        stream.stream.reads_responses = true;
        assert!(pin!(&mut stream).poll_write(&mut cx, b"response").is_ready());
        assert_eq!(read_once(&mut stream), Some(1000));
    }
}
