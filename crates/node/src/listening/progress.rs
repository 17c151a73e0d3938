//! Closes connections to which no response byte was written within the timeout.
//!
//! The HTTP library has deadlines only for the first request head and for idle connections. Without this module, a
//! client could hold a connection permanently: by a second, endless head, or by never reading its response.

use std::{
    io::{self, IoSlice},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_rt::time::{Instant, Sleep, sleep};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that fails if no byte was written for longer than `allowed`. Bytes that are read do not extend this time.
pub(super) struct ProgressStream<S> {
    stream: S,
    allowed: Duration,
    written_at: Instant,
    /// Timer for the timeout, polled only while a read or a write is pending. A write does not reset the timer, so that
    /// writes stay cheap. When the timer expires, it is reset if bytes were written in the meantime.
    alarm: Pin<Box<Sleep>>,
}

impl<S> ProgressStream<S> {
    pub(super) fn new(stream: S, allowed: Duration) -> Self {
        Self { stream, allowed, written_at: Instant::now(), alarm: Box::pin(sleep(allowed)) }
    }

    /// Returns `polled`, or an error instead of `Pending` if no byte was written for the allowed time.
    fn or_alarm<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            return polled;
        }
        loop {
            ready!(self.alarm.as_mut().poll(cx));
            let ends_at = self.written_at + self.allowed;
            if ends_at <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.alarm.as_mut().reset(ends_at);
        }
    }

    fn written(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.written_at = Instant::now();
        }
        self.or_alarm(cx, written)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ProgressStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = pin!(&mut self.stream).poll_read(cx, buf);
        self.or_alarm(cx, read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ProgressStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = pin!(&mut self.stream).poll_write(cx, buf);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = pin!(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = pin!(&mut self.stream).poll_flush(cx);
        self.or_alarm(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = pin!(&mut self.stream).poll_shutdown(cx);
        self.or_alarm(cx, shut)
    }
}
