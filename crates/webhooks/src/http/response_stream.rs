//! A connection to a receiver that returns only final responses, and ends after a response that must be the last one.

use std::{
    io,
    mem::MaybeUninit,
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use actix_rt::net::{ActixStream, Ready, TcpStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use super::response_framing::{ResponseError, ResponseFraming};

/// A connection for the HTTP client awc. Rewrites each final response to an unambiguous form.
///
/// awc would take an interim response (1xx) as the response to its request, so the stream removes interim responses.
/// awc would also reuse a connection after a response that must be the last one, and mistake later bytes for another
/// response. So the stream ends after the last response.
#[derive(Debug)]
pub struct ResponseStream {
    transport: Transport,
    framing: ResponseFraming,
    /// Bytes of the response for the client to read.
    output: Vec<u8>,
    /// Number of bytes at the start of `output` that the client has already read.
    taken: usize,
    /// A fault in the bytes after `output`, returned when the client has read `output`.
    fault: Option<ResponseError>,
}

#[derive(Debug)]
enum Transport {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl From<TcpStream> for ResponseStream {
    fn from(stream: TcpStream) -> Self {
        Self::new(Transport::Tcp(stream))
    }
}

impl From<TlsStream<TcpStream>> for ResponseStream {
    fn from(stream: TlsStream<TcpStream>) -> Self {
        Self::new(Transport::Tls(Box::new(stream)))
    }
}

impl ResponseStream {
    fn new(transport: Transport) -> Self {
        let framing = ResponseFraming::default();
        Self { transport, framing, output: Vec::new(), taken: 0, fault: None }
    }

    /// Copies unread bytes of the response. Returns whether there were any.
    fn take_output(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let unread = self.output.get(self.taken..).unwrap_or_default();
        let count = unread.len().min(buffer.remaining());
        buffer.put_slice(unread.get(..count).unwrap_or_default());
        self.taken += count;
        if self.taken == self.output.len() {
            self.output.clear();
            self.taken = 0;
        }
        count > 0
    }

    /// Turns a failed write into a success. A receiver may respond and close the connection before it has read the
    /// whole request, so the response must still be read. If there is no response, the next read fails.
    fn ignore_failed_write<T>(&mut self, result: io::Result<T>, written: T) -> io::Result<T> {
        result.or_else(|_| {
            self.framing.end_after_response();
            Ok(written)
        })
    }
}

impl AsyncRead for ResponseStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while !this.take_output(buffer) {
            if let Some(fault) = this.fault.take() {
                let kind = match fault {
                    ResponseError::Cut => io::ErrorKind::UnexpectedEof,
                    _ => io::ErrorKind::InvalidData,
                };
                return Poll::Ready(Err(io::Error::new(kind, fault)));
            }
            if this.framing.has_ended() {
                break;
            }
            let mut space = [MaybeUninit::uninit(); READ_LENGTH];
            let mut read = ReadBuf::uninit(&mut space);
            ready!(this.transport.bytes().poll_read(context, &mut read))?;
            this.fault = match read.filled() {
                [] => this.framing.end().err(),
                input => this.framing.read(input, &mut this.output).err(),
            };
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ResponseStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.framing.expect_response();
        let result = ready!(this.transport.bytes().poll_write(context, bytes));
        Poll::Ready(this.ignore_failed_write(result, bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = ready!(this.transport.bytes().poll_flush(context));
        Poll::Ready(this.ignore_failed_write(result, ()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().transport.bytes().poll_shutdown(context)
    }
}

impl ActixStream for ResponseStream {
    fn poll_read_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_read_ready(self.transport.tcp(), context)
    }

    fn poll_write_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_write_ready(self.transport.tcp(), context)
    }
}

impl Drop for ResponseStream {
    /// Closes a TLS session with a `close_notify` alert, if this is possible without waiting.
    fn drop(&mut self) {
        if let Transport::Tls(stream) = &mut self.transport {
            let mut context = Context::from_waker(Waker::noop());
            drop(Pin::new(stream.as_mut()).poll_shutdown(&mut context));
        }
    }
}

/// A connection that carries the bytes of the requests and the responses.
trait ByteStream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> ByteStream for S {}

impl Transport {
    fn tcp(&self) -> &TcpStream {
        match self {
            Self::Tcp(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        }
    }

    fn bytes(&mut self) -> Pin<&mut dyn ByteStream> {
        match self {
            Self::Tcp(stream) => Pin::new(stream),
            Self::Tls(stream) => Pin::new(&mut **stream),
        }
    }
}

/// Maximum number of bytes per read.
const READ_LENGTH: usize = 4096;

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, io::Write as _, net::TcpListener, thread};

    use super::*;

    /// The receiver closes the connection before it has read all bytes. Its operating system then resets the
    /// connection.
    #[test]
    fn a_response_is_read_although_the_rest_of_the_request_cannot_be_written() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            assert_eq!(connection.peek(&mut [0]).unwrap(), 1);
            connection.write_all(b"HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n").unwrap();
        });
        actix_rt::Runtime::new().unwrap().block_on(async {
            let mut stream = ResponseStream::from(TcpStream::connect(address).await.unwrap());
            write(&mut stream, b"P").await.unwrap();
            receiver.join().unwrap();
            let failed = poll_fn(|context| stream.transport.bytes().poll_write(context, b"O"));
            assert!(failed.await.is_err());
            assert_eq!(write(&mut stream, b"ST").await.unwrap(), 2);
            let response = "HTTP/1.1 413 \r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
            assert_eq!(read(&mut stream).await, response.as_bytes());
            assert_eq!(read(&mut stream).await, b"");
        });
    }

    async fn write(stream: &mut ResponseStream, bytes: &[u8]) -> io::Result<usize> {
        poll_fn(|context| Pin::new(&mut *stream).poll_write(context, bytes)).await
    }

    async fn read(stream: &mut ResponseStream) -> Vec<u8> {
        let mut bytes = [0; 256];
        let mut buffer = ReadBuf::new(&mut bytes);
        poll_fn(|context| Pin::new(&mut *stream).poll_read(context, &mut buffer)).await.unwrap();
        buffer.filled().to_vec()
    }
}
