//! Sends HTTP requests. Does not follow redirects and does not decompress bodies. Maps every error to an
//! [`AttemptFailure`], a coarse class that the owner of the webhook can see.

use std::{
    cell::RefCell,
    collections::HashMap,
    error::Error,
    io,
    rc::{Rc, Weak},
    sync::Arc,
    time::Duration,
};

use actix_http::error::ParseError;
use actix_rt::time::timeout;
use awc::{
    Client, ClientBuilder, Connector,
    error::{ConnectError, SendRequestError},
    http::{
        Uri,
        header::{HeaderMap, USER_AGENT},
    },
};
use rustls::{ClientConfig, pki_types::ServerName};
use sealpost_domain::{AttemptFailure, Target};
use url::Url;

use super::{
    connector::{OpenFailure, TargetConnector, TargetTls},
    response::{printable, read_response},
    response_framing::ResponseError,
};
use crate::{
    address_guard::{
        AddressPolicy,
        connector::{ConnectFailure, GuardedConnector},
        resolver::NameResolver,
    },
    local_error::{LocalError, Unsent},
    relay::{RelayHub, RelayTarget},
    retry::attempt_report::AttemptReport,
    settings::{KEEP_ALIVE, SENDERS_MAX},
    signing::signed_request::SignedRequest,
};

/// Creates an HTTP client for each target. Each thread has a separate factory.
pub(crate) struct ClientFactory {
    pub(crate) policy: AddressPolicy,
    pub(crate) resolver: Rc<dyn NameResolver>,
    pub(crate) tls: Arc<ClientConfig>,
    /// Maximum time from the start of an attempt to the last byte of the response head.
    pub(crate) timeout: Duration,
    pub(crate) relays: Arc<RelayHub>,
    pub(crate) pools: ConnectionPools,
}

/// The connection pools of a thread, by origin (scheme, host and port).
///
/// Webhooks with the same origin share a pool, as in a browser. A server that receives for many webhooks therefore
/// needs no separate connection, with a TLS handshake, for each of them.
///
/// A pool closes its connections when the last of its [`HttpClient`]s is dropped. A single pool for all origins would
/// keep idle sockets open, because awc checks an idle connection only at the next request to the same host.
#[derive(Default)]
pub(crate) struct ConnectionPools(RefCell<HashMap<String, Weak<Client>>>);

/// Sends the requests to one target.
pub(crate) enum TargetClient {
    Http(HttpClient),
    Relay(RelayTarget),
}

/// The HTTP client for one target.
pub(crate) struct HttpClient {
    pool: Rc<Client>,
    uri: Uri,
    timeout: Duration,
}

impl ClientFactory {
    /// Creates a client without connecting. Returns `None` if the policy forbids the URL.
    pub(super) fn client_for(&self, target: &Target) -> Option<TargetClient> {
        if target.is_relay() {
            let (hub, webhook_id) = (Arc::clone(&self.relays), target.webhook_id);
            let relay = RelayTarget { hub, webhook_id, timeout: self.timeout };
            return Some(TargetClient::Relay(relay));
        }
        self.http_client(target).map(TargetClient::Http)
    }

    fn http_client(&self, target: &Target) -> Option<HttpClient> {
        let url = self.policy.parse_url(&target.url).ok()?;
        let tls = if url.scheme() == "https" { Some(self.tls_for(&url)?) } else { None };
        let origin = url.origin().ascii_serialization();
        let uri = Uri::try_from(plain(url)?.as_str()).ok()?;
        let pool = self.pools.share(origin, || self.new_pool(tls));
        Some(HttpClient { pool, uri, timeout: self.timeout })
    }

    fn new_pool(&self, tls: Option<TargetTls>) -> Client {
        let (policy, resolver) = (self.policy.clone(), Rc::clone(&self.resolver));
        let guarded = GuardedConnector { policy, resolver };
        let connector = Connector::new()
            .connector(TargetConnector { guarded, tls })
            // Longer than the timeouts of `TargetConnector`. Those timeouts therefore expire first, and their errors
            // are more precise.
            .timeout(Duration::from_mins(1))
            .conn_keep_alive(KEEP_ALIVE)
            // Does not limit the connections. The queues already limit the attempts of each target, and with a limit
            // here a slow target would delay the other targets of the pool.
            .limit(0);
        ClientBuilder::new()
            .connector(connector)
            .add_default_header((USER_AGENT, OWN_NAME))
            .disable_redirects()
            .disable_timeout()
            .finish()
    }

    /// Returns the TLS settings for the host of the URL. `None` if no certificate can contain the name of this host.
    fn tls_for(&self, url: &Url) -> Option<TargetTls> {
        let name = ServerName::try_from(url.host_str()?.to_owned()).ok()?;
        Some(TargetTls { config: Arc::clone(&self.tls), name })
    }
}

impl ConnectionPools {
    /// Returns the open pool of an origin, or a new one. Closed pools stay in the map until it has [`POOLS_MAX`]
    /// entries.
    fn share(&self, origin: String, new: impl FnOnce() -> Client) -> Rc<Client> {
        let mut pools = self.0.borrow_mut();
        if let Some(pool) = pools.get(&origin).and_then(Weak::upgrade) {
            return pool;
        }
        if pools.len() >= POOLS_MAX {
            pools.retain(|_, pool| pool.strong_count() > 0);
        }
        let pool = Rc::new(new());
        pools.insert(origin, Rc::downgrade(&pool));
        pool
    }
}

impl TargetClient {
    /// Sends one request and waits for the response.
    pub(super) async fn post(&self, signed: SignedRequest) -> Result<AttemptReport, Unsent> {
        match self {
            Self::Http(http) => Ok(http.post(signed).await?),
            Self::Relay(relay) => relay.post(signed).await,
        }
    }
}

impl HttpClient {
    /// Sends one request and reads the response. The timeout covers everything up to the end of the response head.
    async fn post(&self, signed: SignedRequest) -> Result<AttemptReport, LocalError> {
        let mut request = self.pool.post(self.uri.clone());
        let headers: &mut HeaderMap = request.headers_mut();
        for (name, value) in signed.headers {
            headers.insert(name, value);
        }
        match timeout(self.timeout, request.send_body(signed.body)).await {
            Ok(Ok(response)) => Ok(read_response(response).await),
            Ok(Err(error)) => classify(&error),
            Err(_) => Ok(AttemptReport::failed(AttemptFailure::Timeout)),
        }
    }
}

/// Returns the same URL with the scheme `http` and an unchanged port. The HTTP client must not open TLS sessions,
/// because [`TargetConnector`] opens them.
fn plain(mut url: Url) -> Option<Url> {
    let port = url.port_or_known_default();
    url.set_scheme("http").ok()?;
    url.set_port(port).ok()?;
    Some(url)
}

fn classify(error: &SendRequestError) -> Result<AttemptReport, LocalError> {
    if let Some(fault) = local_error(error) {
        return Err(fault);
    }
    Ok(match error {
        SendRequestError::Connect(ConnectError::Resolver(failure)) => {
            match failure.downcast_ref::<OpenFailure>() {
                Some(OpenFailure::Tls(error)) => failed_with(AttemptFailure::Tls, error),
                Some(OpenFailure::Connect(failure)) => AttemptReport::failed(match failure {
                    ConnectFailure::BlockedAddress => AttemptFailure::BlockedAddress,
                    ConnectFailure::Dns => AttemptFailure::Dns,
                    ConnectFailure::Local(_) | ConnectFailure::Tcp(_) | ConnectFailure::Timeout => {
                        AttemptFailure::Connect
                    }
                }),
                None => AttemptReport::failed(AttemptFailure::Connect),
            }
        }
        SendRequestError::Response(ParseError::Io(error)) => classify_read(error),
        error => failed_with(AttemptFailure::Protocol, error),
    })
}

/// Returns the fault of this node that caused a failed request. `None` if the receiver or the network may have caused
/// it.
fn local_error(error: &SendRequestError) -> Option<LocalError> {
    match error {
        SendRequestError::Connect(ConnectError::Resolver(failure)) => {
            match failure.downcast_ref::<OpenFailure>()? {
                OpenFailure::Connect(ConnectFailure::Local(fault)) => Some(*fault),
                failure => LocalError::new(failure),
            }
        }
        SendRequestError::Response(ParseError::Io(error)) | SendRequestError::Send(error) => {
            LocalError::new(error)
        }
        _ => None,
    }
}

/// Classifies an error of reading a response. TLS errors can occur here too, because a receiver may refuse a session
/// only after the handshake.
fn classify_read(error: &io::Error) -> AttemptReport {
    let inner = error.get_ref();
    let failure = match inner.and_then(|inner| inner.downcast_ref::<ResponseError>()) {
        Some(ResponseError::TooLarge) => AttemptFailure::TooLarge,
        None if inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some() => {
            AttemptFailure::Tls
        }
        _ => AttemptFailure::Protocol,
    };
    failed_with(failure, error)
}

fn failed_with(failure: AttemptFailure, error: &dyn Error) -> AttemptReport {
    let detail = printable(error.to_string().as_bytes(), ERROR_DETAIL_MAX);
    AttemptReport { error_detail: Some(detail), ..AttemptReport::failed(failure) }
}

/// Value of the header `User-Agent`.
const OWN_NAME: &str = concat!("Sealpost/", env!("CARGO_PKG_VERSION"));
const POOLS_MAX: usize = 2 * SENDERS_MAX;
/// Maximum number of bytes of [`AttemptReport::error_detail`], as [`AttemptResult`](sealpost_domain::AttemptResult)
/// documents.
const ERROR_DETAIL_MAX: usize = 300;
