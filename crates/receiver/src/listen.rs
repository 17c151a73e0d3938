//! A receiver's HTTP server. It registers nothing: a service sends to its URL, and it verifies, reports and forwards
//! what comes.

use std::{
    net::{SocketAddr, TcpListener},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::ServerHandle,
    http::{StatusCode, Uri, header::HeaderMap},
    web::{self, Bytes, BytesMut},
};
use futures_util::StreamExt as _;
use sealpost_domain::{Clock, Timestamp};
use tokio::time::timeout;

use crate::{
    check::{Report, Request, check},
    error::ReceiverError,
    forward::{Forwarded, Forwarder},
    head::Head,
    keys::Key,
    visible::visible,
};

/// Where a receiver listens and forwards to.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The application that gets every valid request. Without it requests are answered with 204.
    pub forward_to: Option<Uri>,
    /// How long the application may take.
    pub forward_timeout: Duration,
}

/// Yields the keys to verify with. Called for each request, so that keys may change meanwhile. The error is the
/// detail of the 503 that the sender gets.
pub type KeySource = Arc<dyn Fn() -> Result<Vec<Key>, String> + Send + Sync>;

/// Called with each request before it is answered.
pub type Observer = Arc<dyn Fn(&Handled<'_>) + Send + Sync>;

/// A request that was dealt with.
#[derive(Debug, Clone, Copy)]
pub struct Handled<'a> {
    /// When the body was complete.
    pub at: Timestamp,
    /// The headers.
    pub head: &'a Head,
    /// The body.
    pub body: &'a [u8],
    /// The result of the check.
    pub report: &'a Report,
    /// The response of the application, if the request was forwarded.
    pub forwarded: Option<&'a Forwarded>,
    /// What the sender was answered.
    pub status: u16,
}

/// A bound socket that does not serve yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    options: Options,
}

/// A receiver that serves until it is stopped.
#[derive(Debug)]
pub struct Listening(ServerHandle);

impl Listener {
    /// Binds the address, and refuses to forward to it.
    pub fn bind(options: Options) -> Result<Self, ReceiverError> {
        let (socket, address) = bind(options.listen)?;
        refuse_circle(options.forward_to.as_ref(), address)?;
        Ok(Self { socket, address, options })
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves on the current actix system.
    pub fn start(
        self,
        keys: KeySource,
        clock: Arc<dyn Clock>,
        observer: Observer,
    ) -> Result<Listening, ReceiverError> {
        let Self { socket, options, .. } = self;
        let within = options.forward_timeout;
        let make = move || {
            let desk = Rc::new(Desk {
                keys: Arc::clone(&keys),
                clock: Arc::clone(&clock),
                forwarder: options.forward_to.clone().map(|url| Forwarder::new(url, within)),
                observer: Arc::clone(&observer),
            });
            let post = web::post().to(move |request: HttpRequest, body: web::Payload| {
                let desk = Rc::clone(&desk);
                async move { desk.receive(&request, body).await }
            });
            App::new().default_service(web::route().to(only_post)).route("/{path:.*}", post)
        };
        let server = HttpServer::new(make)
            .workers(1)
            .max_connections(CONNECTIONS_MAX)
            .client_request_timeout(BODY_WITHIN)
            .shutdown_timeout(within.as_secs().saturating_add(1).min(DRAIN_S_MAX))
            .disable_signals()
            .listen(socket)
            .map_err(ReceiverError::Serve)?
            .run();
        let handle = server.handle();
        actix_rt::spawn(server);
        Ok(Listening(handle))
    }
}

impl Listening {
    /// Lets requests under way end.
    pub async fn stop(&self) {
        self.0.stop(true).await;
    }
}

/// What each request needs.
struct Desk {
    keys: KeySource,
    clock: Arc<dyn Clock>,
    forwarder: Option<Forwarder>,
    observer: Observer,
}

impl Desk {
    async fn receive(&self, request: &HttpRequest, payload: web::Payload) -> HttpResponse {
        let body = match timeout(BODY_WITHIN, collect(payload)).await {
            Ok(Ok(body)) => body,
            Ok(Err(status)) => return refuse(status, "no notice is as long as this body"),
            Err(_late) => return refuse(StatusCode::REQUEST_TIMEOUT, "the body did not arrive"),
        };
        let at = self.clock.now();
        // Read anew, so that a secret may be put there or rotated while this runs.
        let keys = match (self.keys)() {
            Ok(keys) => keys,
            Err(detail) => return refuse(StatusCode::SERVICE_UNAVAILABLE, &detail),
        };
        let head = head_of(request.headers());
        let report = check(Request { head: &head, body: &body }, &keys, at);
        let forwarded = match &self.forwarder {
            Some(forwarder) if report.valid => {
                Some(forwarder.pass_on(request.headers(), body.clone()).await)
            }
            Some(_) | None => None,
        };
        let status = status_of(&report, forwarded.as_ref());
        (self.observer)(&Handled {
            at,
            head: &head,
            body: &body,
            report: &report,
            forwarded: forwarded.as_ref(),
            status: status.as_u16(),
        });
        answer(status, &report, forwarded)
    }
}

async fn collect(mut payload: web::Payload) -> Result<Bytes, StatusCode> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_broken| StatusCode::BAD_REQUEST)?;
        if body.len().saturating_add(chunk.len()) > BODY_BYTES_MAX {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn head_of(headers: &HeaderMap) -> Head {
    headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}

fn status_of(report: &Report, forwarded: Option<&Forwarded>) -> StatusCode {
    match (report.fault, forwarded) {
        (None, Some(forwarded)) => forwarded.status,
        (None, None) => StatusCode::NO_CONTENT,
        (Some("no_match" | "stale"), _) => StatusCode::UNAUTHORIZED,
        (Some(_), _) => StatusCode::BAD_REQUEST,
    }
}

fn answer(status: StatusCode, report: &Report, forwarded: Option<Forwarded>) -> HttpResponse {
    if let Some(detail) = &report.detail {
        return refuse(status, detail);
    }
    let mut response = HttpResponse::build(status);
    let Some(forwarded) = forwarded else { return response.finish() };
    for header in forwarded.headers {
        response.insert_header(header);
    }
    response.body(forwarded.body)
}

fn refuse(status: StatusCode, why: &str) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("text/plain; charset=utf-8")
        .body(format!("sealpost listen: {}\n", visible(why)))
}

async fn only_post() -> HttpResponse {
    HttpResponse::MethodNotAllowed().insert_header(("Allow", "POST")).finish()
}

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ReceiverError> {
    let bound = TcpListener::bind(address)
        .and_then(|socket| socket.local_addr().map(|address| (socket, address)));
    bound.map_err(|source| ReceiverError::Bind { address, source })
}

/// Forwarding to itself, it would never come to an end.
fn refuse_circle(forward_to: Option<&Uri>, own: SocketAddr) -> Result<(), ReceiverError> {
    let Some(uri) = forward_to else { return Ok(()) };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse() == Ok(own.ip());
    if is_here && uri.port_u16().unwrap_or(80) == own.port() {
        return Err(ReceiverError::ForwardsToItself);
    }
    Ok(())
}

/// A notice is far below 20,000 bytes.
const BODY_BYTES_MAX: usize = 1_048_576;
const BODY_WITHIN: Duration = Duration::from_secs(10);
const CONNECTIONS_MAX: usize = 256;
/// How long a stop waits for the application at the most.
const DRAIN_S_MAX: u64 = 30;
