//! Tests of the limits on received bytes, and of passing on one request at a time.

use std::task::Waker;

use sealpost_domain::{Clock, Timestamp};

use super::*;

/// A client that sends the head of a request, and then endlessly more bytes.
struct Endless {
    head: &'static [u8],
    reads_responses: bool,
}

impl AsyncRead for Endless {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let head = std::mem::take(&mut self.head);
        buf.put_slice(head);
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

fn stream(head: &'static [u8], reads_responses: bool) -> ClientStream<Endless> {
    let problems = ConnectionProblems::new(String::new(), Arc::new(FixedClock));
    ClientStream::new(Endless { head, reads_responses }, Arc::new(problems), None, 1000)
}

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
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
    let mut stream = stream(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", true);
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
fn one_request_at_a_time_is_passed_on() {
    let two = b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut stream = stream(two, true);
    assert_eq!((read_once(&mut stream), read_all(&mut stream)), (Some(27), 0));
    stream.response().set(ResponseStage::Begun);
    assert_eq!(read_all(&mut stream), 0);
    stream.response().set(ResponseStage::Complete);
    assert_eq!((read_once(&mut stream), read_all(&mut stream)), (Some(31), 0));
}

#[test]
fn requests_wait_in_the_socket_while_the_client_reads_no_response() {
    let mut stream = stream(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /next", false);
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(read_all(&mut stream), 27);
    stream.response().set(ResponseStage::Complete);
    assert!(pin!(&mut stream).poll_write(&mut cx, b"response").is_pending());
    assert_eq!((read_all(&mut stream), stream.held.len()), (0, 1000));
}
