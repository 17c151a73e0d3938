//! The HTTP client: how one request is made. Redirects are answers like any other, bodies are not decompressed, and
//! every error becomes one of the coarse classes that an owner may see.

use std::{rc::Rc, sync::Arc, time::Duration};

use actix_http::error::ParseError;
use actix_rt::time::timeout;
use awc::{
    Client, ClientBuilder, Connector,
    error::{ConnectError, SendRequestError},
    http::{
        Uri,
        header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT},
    },
};
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};
use sealpost_domain::AttemptFailure;

use crate::{
    answer::Attempted,
    connector::{GuardedConnector, NoConnection},
    guard::AddressPolicy,
    names::Names,
};

/// What all requests of one thread have in common.
pub(crate) struct Egress {
    pub(crate) policy: AddressPolicy,
    pub(crate) names: Rc<dyn Names>,
    pub(crate) tls: Arc<ClientConfig>,
    pub(crate) user_agent: HeaderValue,
    /// From the start of an attempt to the last byte of the answer's head.
    pub(crate) timeout: Duration,
    /// How many connections a target may have.
    pub(crate) connections_max: usize,
}

/// One target's connections. Each target has its own: awc's pool looks at an idle connection only when the same
/// host is asked for again, so that a common pool would keep a socket for every receiver there ever was. Dropping
/// the line closes them.
pub(crate) struct Line {
    client: Client,
    uri: Uri,
    timeout: Duration,
}

impl Egress {
    /// A line to the target, with no connection yet; `None` where the policy does not allow its URL.
    pub(crate) fn line(&self, url: &str) -> Option<Line> {
        let url = self.policy.parse_url(url).ok()?;
        let uri = Uri::try_from(url.as_str()).ok()?;
        let connector = Connector::new()
            .connector(GuardedConnector::new(self.policy, Rc::clone(&self.names)))
            .rustls_0_23(Arc::clone(&self.tls))
            // The connector keeps its own time, in parts, so that the class of a failure is known.
            .timeout(Duration::from_mins(1))
            .handshake_timeout(HANDSHAKE_MAX)
            .conn_keep_alive(KEEP_ALIVE)
            .limit(self.connections_max);
        let client = ClientBuilder::new()
            .connector(connector)
            .add_default_header((USER_AGENT, self.user_agent.clone()))
            .disable_redirects()
            .disable_timeout()
            .finish();
        Some(Line { client, uri, timeout: self.timeout })
    }
}

impl Line {
    /// Sends one notice, and waits for the head of the answer until the time is up.
    pub(crate) async fn post(
        &self,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
        body: Vec<u8>,
    ) -> Attempted {
        let mut request = self.client.post(self.uri.clone());
        let own: &mut HeaderMap = request.headers_mut();
        for (name, value) in headers {
            own.insert(name, value);
        }
        match timeout(self.timeout, request.send_body(body)).await {
            Ok(Ok(answer)) => Attempted::read(answer).await,
            Ok(Err(error)) => Attempted::failed(class(&error)),
            Err(_) => Attempted::failed(AttemptFailure::Timeout),
        }
    }
}

/// Trust in the public authorities and in `extra_roots`.
pub(crate) fn tls_config(
    extra_roots: &[CertificateDer<'static>],
) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    for root in extra_roots {
        roots.add(root.clone())?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn class(error: &SendRequestError) -> AttemptFailure {
    match error {
        SendRequestError::Timeout => AttemptFailure::Timeout,
        SendRequestError::Response(ParseError::TooLarge) => AttemptFailure::TooLarge,
        SendRequestError::Connect(error) => match error {
            ConnectError::Resolver(fault) => class_of_fault(fault.as_ref()),
            // TCP is the guarded connector's; what fails after it, before the request, is the handshake.
            ConnectError::Io(_) | ConnectError::SslIsNotSupported | ConnectError::Timeout => {
                AttemptFailure::Tls
            }
            ConnectError::NoRecords | ConnectError::Unresolved => AttemptFailure::Dns,
            _ => AttemptFailure::Protocol,
        },
        _ => AttemptFailure::Protocol,
    }
}

fn class_of_fault(fault: &(dyn std::error::Error + 'static)) -> AttemptFailure {
    match fault.downcast_ref() {
        Some(NoConnection::Blocked) => AttemptFailure::BlockedAddress,
        Some(NoConnection::Dns) => AttemptFailure::Dns,
        Some(NoConnection::Slow | NoConnection::Tcp(_)) | None => AttemptFailure::Connect,
    }
}

/// How long a connection may wait for its next request.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);

const HANDSHAKE_MAX: Duration = Duration::from_secs(5);
