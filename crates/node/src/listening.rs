//! Serves HTTP/1.1 on a socket, with or without TLS.
//!
//! The `HttpServer` of actix-web would offer HTTP/2 over TLS: the webhook client enables that feature in this build.
//! Its HTTP/2 library, h2 0.3, has an unfixed vulnerability. This module assembles the same server without HTTP/2.

mod progress;
pub mod tls;

use std::{fmt, io, net::TcpListener, time::Duration};

use actix_http::{
    HttpServiceBuilder, KeepAlive, Request, Response,
    h1::{ExpectHandler, UpgradeHandler},
};
use actix_rt::net::TcpStream;
use actix_service::{
    IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt as _, fn_service, map_config,
};
use actix_tls::accept::{
    TlsError,
    rustls_0_23::{Acceptor, TlsStream},
};
use actix_web::{
    Error,
    body::{BoxBody, MessageBody},
    dev::{AppConfig, Server, ServerHandle},
};
use futures_util::future::LocalBoxFuture;
use rustls::ServerConfig;

use self::progress::ProgressStream;

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) workers: usize,
    /// The largest number of connections per worker.
    pub(crate) connections_max: usize,
    /// Timeout of a connection without progress: no response byte was written to the client.
    pub(crate) progress_within: Duration,
    /// The time for active requests at a stop, in seconds.
    pub(crate) drain_s: u64,
}

/// Serves requests until the returned handle stops the server.
pub(crate) fn serve<I, S, B>(
    socket: TcpListener,
    tls: Option<ServerConfig>,
    bounds: Bounds,
    app: impl Fn() -> I + Clone + Send + 'static,
) -> io::Result<ServerHandle>
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
    // `AppConfig` has the scheme and host of the server. Sealpost uses --base-url instead.
    let service = move || map_config(app().into_factory(), |()| AppConfig::default());
    let within = bounds.progress_within;
    let builder = match tls {
        None => builder.listen("plain", socket, move || {
            let streams = fn_service(move |stream: TcpStream| async move {
                let peer = stream.peer_addr().ok();
                Ok((ProgressStream::new(stream, within), peer))
            });
            streams.and_then(http(until_stopping.clone()).h1(service()))
        }),
        Some(config) => builder.listen("tls", socket, move || {
            let accepted = Acceptor::new(config.clone()).map_err(TlsError::into_service_error);
            let streams = accepted.map(move |stream: TlsStream<TcpStream>| {
                let peer = stream.get_ref().0.peer_addr().ok();
                (ProgressStream::new(stream, within), peer)
            });
            let http = http(until_stopping.clone()).h1(service());
            streams.and_then(http.map_err(TlsError::Service))
        }),
    };
    let server = builder?.run();
    let handle = server.handle();
    actix_rt::spawn(server);
    Ok(handle)
}

/// Builds the HTTP service of a worker, with its deadlines.
fn http<T, S>(
    until_stopping: impl Fn() -> LocalBoxFuture<'static, ()> + 'static,
) -> HttpServiceBuilder<T, S, ExpectHandler, UpgradeHandler>
where
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
}

/// The time for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);
