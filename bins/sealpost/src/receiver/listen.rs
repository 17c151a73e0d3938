//! `sealpost listen`: a receiver on a developer's machine. It registers nothing: a service sends to its URL, which the
//! developer registered, and it verifies, prints and passes on what comes.

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
use sealpost_domain::Clock as _;
use tokio::{sync::Notify, time::timeout};

use super::{
    check::{Report, Request, check},
    forward::{Forwarded, Forwarder},
    head::Head,
    keys,
    show::{Dealt, Style, greet, show},
};
use crate::{
    admin::visible,
    cli::{KeyArgs, ListenArgs},
    compose::SystemClock,
    fault::Fault,
    serve::Signals,
};

/// Receives until told to stop, or until nobody reads what it prints.
pub(crate) fn run(args: ListenArgs) -> Result<(), Fault> {
    // A mistake is said now and not at the first notice.
    keys::read(&args.keys)?;
    actix_rt::System::new().block_on(async {
        let mut signals = Signals::listen()?;
        let (socket, address) = bind(args.listen)?;
        refuse_circle(args.forward_to.as_ref(), address)?;
        let style = Style::new(args.json);
        let forward_to = args.forward_to.as_ref().map(ToString::to_string);
        greet(style, &format!("http://{address}/"), forward_to.as_deref())
            .map_err(|error| Fault::caused("standard output is closed", error))?;
        let unread = Arc::new(Notify::new());
        let server = serve(socket, args, style, &unread)?;
        let ended = tokio::select! {
            () = signals.next() => Ok(()),
            () = unread.notified() => Err(Fault::new("standard output is closed")),
        };
        tokio::select! {
            () = server.stop(true) => ended,
            () = signals.next() => Err(Fault::new("stopped at once")),
        }
    })
}

/// What each request needs.
struct Desk {
    keys: Arc<KeyArgs>,
    forwarder: Option<Forwarder>,
    style: Style,
    /// Told when nobody reads what is printed.
    unread: Arc<Notify>,
}

fn serve(
    socket: TcpListener,
    args: ListenArgs,
    style: Style,
    unread: &Arc<Notify>,
) -> Result<ServerHandle, Fault> {
    let (keys, forward_to, unread) = (Arc::new(args.keys), args.forward_to, Arc::clone(unread));
    let within = args.forward_timeout;
    let make = move || {
        let desk = Rc::new(Desk {
            keys: Arc::clone(&keys),
            forwarder: forward_to.clone().map(|url| Forwarder::new(url, within)),
            style,
            unread: Arc::clone(&unread),
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
        .map_err(|error| Fault::caused("notices cannot be received", error))?
        .run();
    let handle = server.handle();
    actix_rt::spawn(server);
    Ok(handle)
}

impl Desk {
    async fn receive(&self, request: &HttpRequest, payload: web::Payload) -> HttpResponse {
        let body = match timeout(BODY_WITHIN, collect(payload)).await {
            Ok(Ok(body)) => body,
            Ok(Err(status)) => return refuse(status, "no notice is as long as this body"),
            Err(_late) => return refuse(StatusCode::REQUEST_TIMEOUT, "the body did not arrive"),
        };
        let at = SystemClock.now();
        // Read anew, so that a secret may be put there or rotated while this runs.
        let keys = match keys::read(&self.keys) {
            Ok(keys) => keys,
            Err(fault) => return refuse(StatusCode::SERVICE_UNAVAILABLE, &fault.to_string()),
        };
        let report = check(Request { head: &head_of(request.headers()), body: &body }, &keys, at);
        let forwarded = match &self.forwarder {
            Some(forwarder) if report.valid => {
                Some(forwarder.pass_on(request.headers(), body.clone()).await)
            }
            Some(_) | None => None,
        };
        let status = status_of(&report, forwarded.as_ref());
        let dealt = Dealt {
            at,
            report: &report,
            body: &body,
            forwarded: forwarded.as_ref(),
            status: status.as_u16(),
        };
        if show(self.style, &dealt).is_err() {
            self.unread.notify_one();
        }
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

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Fault> {
    let bound = TcpListener::bind(address)
        .and_then(|socket| socket.local_addr().map(|address| (socket, address)));
    bound.map_err(|error| {
        Fault::caused(format!("{address} cannot be listened on; is it taken?"), error)
    })
}

/// Forwarding to itself, it would never come to an end.
fn refuse_circle(forward_to: Option<&Uri>, own: SocketAddr) -> Result<(), Fault> {
    let Some(uri) = forward_to else { return Ok(()) };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse() == Ok(own.ip());
    if is_here && uri.port_u16().unwrap_or(80) == own.port() {
        return Err(Fault::usage("--forward-to names the address that this listens on"));
    }
    Ok(())
}

/// A notice is far below 20,000 bytes.
const BODY_BYTES_MAX: usize = 1_048_576;
const BODY_WITHIN: Duration = Duration::from_secs(10);
const CONNECTIONS_MAX: usize = 256;
/// How long a stop waits for the application at the most.
const DRAIN_S_MAX: u64 = 30;
