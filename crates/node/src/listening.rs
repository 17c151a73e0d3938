//! Serves HTTP/1.1 on a socket, with or without TLS.
//!
//! Assembles the server of actix-web without HTTP/2, because the HTTP/2 library of actix-http, h2 0.3, has an unfixed
//! vulnerability. The `HttpServer` of actix-web would offer HTTP/2 over TLS, because the webhook client enables the
//! HTTP/2 feature in this build.

mod anonymous;
mod chunked_body;
mod client_stream;
mod progress;
mod request_framing;
mod request_head;
mod response_record;
pub mod tls;

use std::{
    fmt, future, io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use actix_http::{
    HttpServiceBuilder, KeepAlive, Request, Response,
    error::DispatchError,
    h1::{ExpectHandler, UpgradeHandler},
};
use actix_rt::{net::TcpStream, task::JoinHandle};
use actix_service::{
    IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt as _, fn_service, map_config,
};
use actix_web::{
    Error,
    body::{BoxBody, MessageBody},
    dev::{AppConfig, Server, ServerHandle},
};
use futures_util::future::LocalBoxFuture;
use rustls::ServerConfig;
use sealpost_api::{ConnectionProblems, Problem};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

pub(crate) use self::anonymous::AnonymousConnections;
use self::{
    anonymous::Membership, client_stream::ClientStream, progress::ProgressStream,
    response_record::record_responses,
};

/// The limits, timeouts and number of threads of a server.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    pub(crate) workers: usize,
    /// The largest number of connections per worker thread.
    pub(crate) connections_max: usize,
    /// The set of connections of clients that have not authenticated. The set limits their number.
    pub(crate) anonymous: Arc<AnonymousConnections>,
    pub(crate) problems: Arc<ConnectionProblems>,
    pub(crate) handshake_within: Duration,
    /// The maximum size of a request head in bytes.
    pub(crate) head_bytes_max: usize,
    /// The time after which a connection is closed if no response byte was written to the client.
    pub(crate) progress_within: Duration,
    /// The time in seconds for active requests to complete when the server stops.
    pub(crate) drain_s: u64,
}

/// An accepted connection: its stream, and the address of the client. The address is `None` if unknown.
type Accepted<S> = (ClientStream<ProgressStream<S>>, Option<SocketAddr>);

/// A server that accepts requests.
pub(crate) struct RunningServer {
    handle: ServerHandle,
    task: JoinHandle<io::Result<()>>,
}

impl RunningServer {
    /// Returns true if the server has ended. If [`stop`](Self::stop) was not called, the server has panicked, for
    /// example because the system could not create a thread.
    pub(crate) fn has_ended(&self) -> bool {
        self.task.is_finished()
    }

    /// Stops accepting connections. If `is_orderly`, waits for the requests in flight.
    pub(crate) async fn stop(&self, is_orderly: bool) {
        self.handle.stop(is_orderly).await;
    }
}

/// Serves requests until the returned server is stopped.
pub(crate) fn serve<I, S, B>(
    socket: TcpListener,
    tls: Option<ServerConfig>,
    bounds: Bounds,
    app: impl Fn() -> I + Clone + Send + 'static,
) -> io::Result<RunningServer>
where
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig, Error = Error> + 'static,
    S::InitError: fmt::Debug,
    S::Response: Into<Response<B>>,
    <S::Service as Service<Request>>::Future: 'static,
    B: MessageBody + 'static,
{
    let builder = Server::build()
        .workers(bounds.workers)
        .max_concurrent_connections(bounds.connections_max)
        .shutdown_timeout(bounds.drain_s)
        .disable_signals();
    let stopping = builder.graceful_shutdown_signal();
    let until_stopping = move || -> LocalBoxFuture<'static, ()> {
        let stopping = stopping.clone();
        Box::pin(async move { stopping.notified().await })
    };
    // Uses the default `AppConfig`. The scheme and the host in this configuration are not used, because Sealpost takes
    // both from --base-url.
    let service =
        move || record_responses(map_config(app().into_factory(), |()| AppConfig::default()));
    let builder = match tls {
        None => builder.listen("plain", socket, move || {
            let bounds = bounds.clone();
            let streams = fn_service(move |stream| future::ready(accept(&bounds, stream)));
            streams.and_then(http(until_stopping.clone()).h1(service()))
        }),
        Some(config) => {
            let acceptor = TlsAcceptor::from(Arc::new(config));
            builder.listen("tls", socket, move || {
                let (acceptor, bounds) = (acceptor.clone(), bounds.clone());
                let streams =
                    fn_service(move |stream| accept_tls(acceptor.clone(), bounds.clone(), stream));
                streams.and_then(http(until_stopping.clone()).h1(service()))
            })
        }
    };
    let server = builder?.run();
    Ok(RunningServer { handle: server.handle(), task: actix_rt::spawn(server) })
}

fn accept(bounds: &Bounds, stream: TcpStream) -> Result<Accepted<TcpStream>, DispatchError> {
    let (peer, membership) = admit(bounds, &stream).map_err(DispatchError::Io)?;
    Ok((client_stream(bounds, stream, membership), peer))
}

/// Accepts a connection over TLS. Fails if the handshake takes too long, or if a newer connection evicts this
/// connection. Unlike the acceptor of actix-tls, accepts further connections during any number of handshakes.
async fn accept_tls(
    acceptor: TlsAcceptor,
    bounds: Bounds,
    mut stream: TcpStream,
) -> Result<Accepted<TlsStream<TcpStream>>, DispatchError> {
    let (peer, membership) = admit(&bounds, &stream).map_err(DispatchError::Io)?;
    let evicted = future::poll_fn(|cx| match &membership {
        Some(membership) => membership.poll_evicted(cx),
        None => std::task::Poll::Pending,
    });
    let handshake = async {
        refuse_plain_http(&bounds, &mut stream).await?;
        acceptor.accept(stream).await
    };
    let handshake = actix_rt::time::timeout(bounds.handshake_within, handshake);
    let handshake = tokio::select! {
        handshake = handshake => handshake,
        () = evicted => return Err(DispatchError::Io(io::ErrorKind::ConnectionAborted.into())),
    };
    let stream = handshake.map_err(io::Error::from).flatten().map_err(DispatchError::Io)?;
    Ok((client_stream(&bounds, stream, membership), peer))
}

/// Refuses a client that speaks HTTP without TLS: sends an error response, and returns `InvalidData`. Recognizes such a
/// client by its first byte, which is a letter. A TLS handshake never begins with a letter.
async fn refuse_plain_http(bounds: &Bounds, stream: &mut TcpStream) -> io::Result<()> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    if !first[0].is_ascii_alphabetic() {
        return Ok(());
    }
    // Reads what the client has sent, because closing a socket with unread input can lose the response.
    let mut received = vec![0; bounds.head_bytes_max];
    let count = stream.read(&mut received).await?;
    let problem = Problem::InvalidHttp { field: None, problem: PLAIN_HTTP };
    let received = received.get(..count).unwrap_or_default();
    let response = bounds.problems.message_without_tls(&problem, received);
    stream.write_all(&response).await?;
    stream.shutdown().await?;
    Err(io::ErrorKind::InvalidData.into())
}

/// Sets `TCP_NODELAY` on a new connection, and adds it to the set of anonymous connections (not authenticated yet)
/// unless it comes from a trusted proxy. Returns the address of the client, and the `Membership` of an anonymous
/// connection.
fn admit(
    bounds: &Bounds,
    stream: &TcpStream,
) -> io::Result<(Option<SocketAddr>, Option<Membership>)> {
    // Otherwise the first response after a TLS handshake waits about 40 ms, until the client has acknowledged the
    // session tickets.
    stream.set_nodelay(true)?;
    let peer = stream.peer_addr().ok();
    Ok((peer, peer.and_then(|peer| bounds.anonymous.add(peer.ip()))))
}

fn client_stream<S: AsyncRead + AsyncWrite + Unpin>(
    bounds: &Bounds,
    stream: S,
    membership: Option<Membership>,
) -> ClientStream<ProgressStream<S>> {
    let stream = ProgressStream::new(stream, bounds.progress_within);
    let problems = Arc::clone(&bounds.problems);
    ClientStream::new(stream, problems, membership, bounds.head_bytes_max)
}

/// Builds the HTTP service of a worker thread, with its timeouts.
fn http<T, S>(
    until_stopping: impl Fn() -> LocalBoxFuture<'static, ()> + 'static,
) -> HttpServiceBuilder<ClientStream<T>, S, ExpectHandler, UpgradeHandler>
where
    T: AsyncRead + AsyncWrite + Unpin + 'static,
    S: ServiceFactory<Request, Config = ()>,
    S::Error: Into<Response<BoxBody>> + 'static,
    S::InitError: fmt::Debug,
    <S::Service as Service<Request>>::Future: 'static,
{
    HttpServiceBuilder::default()
        .keep_alive(KeepAlive::Timeout(KEEP_ALIVE))
        .client_request_timeout(HEAD_TIMEOUT)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        .graceful_shutdown_signal(until_stopping)
        .on_connect_ext(|stream: &ClientStream<T>, data| {
            data.insert(stream.record().clone());
            data.insert(stream.response().clone());
        })
}

const PLAIN_HTTP: &str = "this port speaks TLS; use https:// in the URL";

/// The maximum time to receive the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn responses_of_an_admitted_connection_are_sent_without_delay() {
        let bounds = Bounds {
            workers: 1,
            connections_max: 1,
            anonymous: AnonymousConnections::new(1, 1, Vec::new()),
            problems: Arc::new(ConnectionProblems::new(
                String::new(),
                Arc::new(crate::clock::SystemClock),
            )),
            handshake_within: Duration::ZERO,
            head_bytes_max: 1,
            progress_within: Duration::ZERO,
            drain_s: 0,
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let stream = TcpStream::from_std(stream).unwrap();
        assert!(!stream.nodelay().unwrap(), "the system's default");
        let (peer, membership) = admit(&bounds, &stream).unwrap();
        assert!(stream.nodelay().unwrap());
        assert_eq!((peer, membership.is_some()), (client.local_addr().ok(), true));
    }
}
