//! Serves HTTP/1.1 on a socket, in the clear or over TLS.
//!
//! actix-web's own `HttpServer` would offer HTTP/2 over TLS, because the webhook client brings that feature into the
//! build; the only HTTP/2 library that it knows has a fault that nobody mends. So the server is put together here from
//! the same parts without it.

mod progress;

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

use self::progress::Progressing;

/// How much and how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) workers: usize,
    /// Of one worker.
    pub(crate) connections_max: usize,
    /// How long a connection may go on without a byte of an answer.
    pub(crate) answer_within: Duration,
    /// How long requests under way may take at a stop.
    pub(crate) drain_s: u64,
}

/// Takes requests until the handle stops it.
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
    // Nothing here asks the library for scheme and host: what callers know is in --base-url.
    let service = move || map_config(app().into_factory(), |()| AppConfig::default());
    let within = bounds.answer_within;
    let builder = match tls {
        None => builder.listen("clear", socket, move || {
            let progressing = fn_service(move |stream: TcpStream| async move {
                let peer = stream.peer_addr().ok();
                Ok((Progressing::new(stream, within), peer))
            });
            progressing.and_then(http(until_stopping.clone()).h1(service()))
        }),
        Some(config) => builder.listen("tls", socket, move || {
            let accepted = Acceptor::new(config.clone()).map_err(TlsError::into_service_error);
            let progressing = accepted.map(move |stream: TlsStream<TcpStream>| {
                let peer = stream.get_ref().0.peer_addr().ok();
                (Progressing::new(stream, within), peer)
            });
            let http = http(until_stopping.clone()).h1(service());
            progressing.and_then(http.map_err(TlsError::Service))
        }),
    };
    let server = builder?.run();
    let handle = server.handle();
    actix_rt::spawn(server);
    Ok(handle)
}

/// One worker's HTTP: how long it waits for whom.
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

/// How long a client may take for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);
