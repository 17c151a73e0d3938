//! Binds, starts and stops the HTTP server that receives webhook requests.

use std::{
    net::{SocketAddr, TcpListener},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, dev::ServerHandle, http::Uri, web};
use sealpost_domain::Clock;

use super::{
    application::check_application,
    forwarding::Forwarder,
    handler::{BODY_TIMEOUT, Handler, KeySource, RequestObserver},
};
use crate::error::ReceiverError;

/// The options of a [`Listener`].
#[derive(Debug, Clone)]
pub struct ListenerOptions {
    /// The address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// The `http` URL of the application on this machine to which valid requests are forwarded. `None` forwards
    /// nothing, and valid requests get status 204.
    pub forward_to: Option<Uri>,
    /// The time limit for the response of the application. The default is 14 s, because the service waits at most 15 s
    /// for the response to a delivery.
    pub forward_timeout: Duration,
}

/// A bound socket that accepts no requests yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    options: ListenerOptions,
}

/// A listener that accepts requests. Call [`stop`](Self::stop) to end it.
#[derive(Debug)]
pub struct RunningListener(ServerHandle);

impl ListenerOptions {
    /// Returns the options of a listener that does not forward.
    pub fn new(listen: SocketAddr) -> Self {
        Self { listen, forward_to: None, forward_timeout: FORWARD_TIMEOUT }
    }
}

impl Listener {
    /// Binds the listening address. Fails if the address is not free. Also fails if the URL of the application leads to
    /// another machine or to the listening address.
    pub fn bind(options: ListenerOptions) -> Result<Self, ReceiverError> {
        let bound = TcpListener::bind(options.listen)
            .and_then(|socket| socket.local_addr().map(|address| (socket, address)));
        let (socket, address) =
            bound.map_err(|source| ReceiverError::Bind { address: options.listen, source })?;
        options.forward_to.iter().try_for_each(|url| check_application(url, Some(address)))?;
        Ok(Self { socket, address, options })
    }

    /// Returns the bound address, with the selected port if the options contain port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts to accept requests on the current actix system, with one worker thread and at most 256 connections.
    ///
    /// A body may have at most 1 MiB and must arrive within 10 s. The response to a valid request is the response of
    /// the application, or status 204 if requests are not forwarded. An invalid request gets 400 or 401. If the
    /// function `keys` fails, the response is 503.
    pub fn start(
        self,
        keys: KeySource,
        clock: Arc<dyn Clock>,
        observer: RequestObserver,
    ) -> Result<RunningListener, ReceiverError> {
        let Self { socket, options, .. } = self;
        let time_limit = options.forward_timeout;
        let app = move || {
            let forwarder = options.forward_to.clone().map(|url| Forwarder::new(url, time_limit));
            let handler = Rc::new(Handler {
                keys: Arc::clone(&keys),
                clock: Arc::clone(&clock),
                forwarder,
                observer: Arc::clone(&observer),
            });
            let post = web::post().to(move |request: HttpRequest, body: web::Payload| {
                let handler = Rc::clone(&handler);
                async move { handler.handle(&request, body).await }
            });
            App::new().default_service(web::route().to(only_post)).route("/{path:.*}", post)
        };
        let server = HttpServer::new(app)
            .workers(1)
            .max_connections(CONNECTIONS_MAX)
            .client_request_timeout(BODY_TIMEOUT)
            .shutdown_timeout(time_limit.as_secs().saturating_add(1).min(DRAIN_S_MAX))
            .disable_signals()
            .listen(socket)
            .map_err(ReceiverError::Serve)?
            .run();
        let handle = server.handle();
        actix_rt::spawn(server);
        Ok(RunningListener(handle))
    }
}

impl RunningListener {
    /// Stops accepting requests. Waits at most 30 s until the requests in flight have ended.
    pub async fn stop(&self) {
        self.0.stop(true).await;
    }
}

async fn only_post() -> HttpResponse {
    HttpResponse::MethodNotAllowed().insert_header(("Allow", "POST")).finish()
}

const FORWARD_TIMEOUT: Duration = Duration::from_secs(14);
const CONNECTIONS_MAX: usize = 256;
/// Maximum time in seconds that [`RunningListener::stop`] waits for requests in flight.
const DRAIN_S_MAX: u64 = 30;
