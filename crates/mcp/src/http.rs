//! Serves the tools over Streamable HTTP at `/mcp`.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use http::{
    Request, Response, StatusCode,
    header::{AUTHORIZATION, WWW_AUTHENTICATE},
};
use http_body_util::{BodyExt as _, Full, Limited, combinators::BoxBody};
use hyper::{
    body::{Body, Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use subtle::ConstantTimeEq as _;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::agent::Agent;

/// The options of an [`HttpServer`].
pub struct HttpOptions {
    /// The address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// The token that each request must carry, as `Authorization: Bearer TOKEN`. Required for an address that is not
    /// loopback. On loopback without a token, all programs and users of this machine can use the tools.
    pub token: Option<Zeroizing<String>>,
    /// The host of a TLS proxy in front of the server, with the port of the proxy if this port is not 443. The headers
    /// `Host` and `Origin` may contain this host. Required for an address that is not loopback.
    pub public_host: Option<String>,
}

/// Serves the tools over HTTP. Keeps no sessions, so each request stands alone.
pub struct HttpServer {
    listener: TcpListener,
    config: StreamableHttpServerConfig,
    token: Option<Zeroizing<String>>,
}

/// The reason why the tools cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The operating system rejects the address.
    #[error("cannot listen on {address}: free the address or choose another one")]
    Bind {
        /// The rejected address.
        address: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The address is not loopback, and the token or the public host is missing.
    #[error("{0} is not loopback: set a token and the URL of a TLS proxy, or listen on 127.0.0.1")]
    Open(SocketAddr),
    /// The client broke the protocol while it connected, or the task that serves the client panicked.
    #[error("the client does not speak the Model Context Protocol")]
    Protocol(#[source] Box<dyn std::error::Error + Send + Sync>),
}

type McpService = StreamableHttpService<Agent, NeverSessionManager>;
type McpResponse = Response<BoxBody<Bytes, Infallible>>;

impl HttpServer {
    /// Binds the address. Fails with [`ServeError::Open`] if the address is not loopback, and the token or the public
    /// host is missing. Fails with [`ServeError::Bind`] if the operating system rejects the address.
    pub async fn bind(options: HttpOptions) -> Result<Self, ServeError> {
        let HttpOptions { listen, token, public_host } = options;
        if !listen.ip().is_loopback() && (token.is_none() || public_host.is_none()) {
            return Err(ServeError::Open(listen));
        }
        let listener = TcpListener::bind(listen).await;
        let listener = listener.map_err(|source| ServeError::Bind { address: listen, source })?;
        Ok(Self { listener, config: config(public_host), token })
    }

    /// Returns the bound address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is ready. Then cancels the running calls.
    pub async fn serve(self, agent: Agent, stop: impl Future<Output = ()>) {
        let Self { listener, config, token } = self;
        let stopped = config.cancellation_token.clone();
        let sessions = Arc::new(NeverSessionManager::default());
        let service = McpService::new(move || Ok(agent.clone()), sessions, config);
        let endpoint = Arc::new(Endpoint { service, token });
        let accepting = accept(listener, endpoint, stopped.clone());
        tokio::select! {
            () = accepting => {}
            () = stop => stopped.cancel(),
        }
    }
}

/// Accepts connections, up to a maximum number at the same time.
async fn accept(listener: TcpListener, endpoint: Arc<Endpoint>, stopped: CancellationToken) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // Never returns here, because the semaphore is never closed.
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        // The error may concern only one connection, or the process may have no free file descriptor at the moment. The
        // server therefore continues after a pause.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (endpoint, stopped) = (Arc::clone(&endpoint), stopped.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = serve_connection(stream, &endpoint) => {}
                () = stopped.cancelled() => {}
            }
            drop(slot);
        });
    }
}

async fn serve_connection(stream: TcpStream, endpoint: &Endpoint) {
    let respond = |request| async { Ok::<_, Infallible>(endpoint.respond(request).await) };
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service_fn(respond));
    // An error means that the client broke the connection or the protocol.
    served.await.ok();
}

struct Endpoint {
    service: McpService,
    token: Option<Zeroizing<String>>,
}

impl Endpoint {
    async fn respond(&self, request: Request<Incoming>) -> McpResponse {
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the tools are at /mcp\n");
        }
        if !self.is_authorized(&request) {
            let mut response = plain(StatusCode::UNAUTHORIZED, "send the token of this server\n");
            let challenge = http::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            return response;
        }
        let (head, body) = request.into_parts();
        match receive(body, BODY_TIMEOUT).await {
            Ok(body) => self.service.handle(Request::from_parts(head, Full::new(body))).await,
            Err((status, text)) => plain(status, text),
        }
    }

    fn is_authorized(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.token else { return true };
        let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        // The scheme is case-insensitive (RFC 9110, section 11.1).
        let given = given.and_then(|value| value.split_once(' '));
        let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"));
        given.is_some_and(|(_, given)| given.trim().as_bytes().ct_eq(token.as_bytes()).into())
    }
}

/// Receives a whole body. Fails with a status and a text if the body is too large or broken, or takes longer than
/// `within`. Without this time limit, an unfinished body would occupy its connection permanently.
async fn receive<B>(body: B, within: Duration) -> Result<Bytes, (StatusCode, &'static str)>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let body = Limited::new(body, BODY_BYTES_MAX).collect();
    match tokio::time::timeout(within, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "the body is broken or exceeds 2 MiB\n")),
        Err(_elapsed) => Err((StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time\n")),
    }
}

fn plain(status: StatusCode, text: &'static str) -> McpResponse {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

/// Returns a configuration with which the server rejects a request whose header `Host` or `Origin` names a host other
/// than loopback and `public_host`. Without this check, a foreign web page in the user's browser could call the tools.
fn config(public_host: Option<String>) -> StreamableHttpServerConfig {
    let mut hosts: Vec<_> = LOOPBACK_HOSTS.map(str::to_owned).into();
    let mut origins: Vec<_> = LOOPBACK_ORIGINS.map(str::to_owned).into();
    if let Some(host) = public_host {
        let port = if host.contains(':') { "" } else { ":443" };
        origins.push(format!("https://{host}{port}"));
        hosts.push(host);
    }
    // Turns sessions off, so that the server keeps no state between requests.
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
}

const PATH: &str = "/mcp";
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
const LOOPBACK_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
const CONNECTIONS_MAX: usize = 64;
/// Maximum size of a request body in bytes. Equals the default limit of the service for a request.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    #[tokio::test]
    async fn an_unfinished_or_too_large_body_is_refused() {
        let status = |received: Result<Bytes, (StatusCode, _)>| received.unwrap_err().0;
        let unfinished = stream::pending::<Result<Frame<Bytes>, Infallible>>();
        let received = receive(StreamBody::new(unfinished), Duration::ZERO).await;
        assert_eq!(status(received), StatusCode::REQUEST_TIMEOUT);
        let body = |length: usize| Full::new(Bytes::from(vec![b' '; length]));
        let received = receive(body(BODY_BYTES_MAX + 1), BODY_TIMEOUT).await;
        assert_eq!(status(received), StatusCode::PAYLOAD_TOO_LARGE);
        let received = receive(body(BODY_BYTES_MAX), BODY_TIMEOUT).await;
        assert_eq!(received.unwrap().len(), BODY_BYTES_MAX);
    }
}
