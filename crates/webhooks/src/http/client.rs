//! Sends HTTP requests. Does not follow redirects and does not decompress bodies. Maps every error to an
//! [`AttemptFailure`], a coarse class that the owner of the webhook can see.

use std::{rc::Rc, sync::Arc, time::Duration};

use actix_http::error::ParseError;
use actix_rt::time::timeout;
use awc::{
    Client, ClientBuilder, Connector,
    error::{ConnectError, SendRequestError},
    http::{
        Uri,
        header::{HeaderMap, HeaderValue, USER_AGENT},
    },
};
use rustls::ClientConfig;
use sealpost_domain::AttemptFailure;

use super::response::{BodyBounds, read_response};
use crate::{
    address_guard::{
        AddressPolicy,
        connector::{ConnectFailure, GuardedConnector},
        resolver::NameResolver,
    },
    retry::attempt_report::AttemptReport,
    settings::Bounds,
    signing::signed_request::SignedRequest,
};

/// Creates an HTTP client for each target. Each thread has a separate factory.
pub(crate) struct ClientFactory {
    pub(crate) policy: AddressPolicy,
    pub(crate) resolver: Rc<dyn NameResolver>,
    pub(crate) tls: Arc<ClientConfig>,
    pub(crate) user_agent: HeaderValue,
    /// Maximum time from the start of an attempt to the last byte of the response head.
    pub(crate) timeout: Duration,
    pub(crate) connections_per_target_max: usize,
    pub(crate) bounds: Bounds,
}

/// The HTTP client for one target, with its connections. Dropping the client closes the connections.
///
/// Each target has a separate connection pool. awc (the HTTP client library) checks an idle connection only at the next
/// request to the same host. A common pool would therefore keep sockets open for receivers that get no more requests.
pub(crate) struct TargetClient {
    client: Client,
    uri: Uri,
    timeout: Duration,
    body_bounds: BodyBounds,
}

impl ClientFactory {
    /// Creates a client without connecting. Returns `None` if the policy forbids the URL.
    pub(crate) fn client_for(&self, url: &str) -> Option<TargetClient> {
        let url = self.policy.parse_url(url).ok()?;
        let uri = Uri::try_from(url.as_str()).ok()?;
        let Bounds { connect_timeout, tls_handshake_timeout, keep_alive, .. } = self.bounds;
        let guarded =
            GuardedConnector::new(self.policy.clone(), Rc::clone(&self.resolver), connect_timeout);
        let connector = Connector::new()
            .connector(guarded)
            .rustls_0_23(Arc::clone(&self.tls))
            // Longer than the timeouts of `GuardedConnector`. Those timeouts therefore expire first, and their errors
            // are more precise.
            .timeout(Duration::from_mins(1))
            .handshake_timeout(tls_handshake_timeout)
            .conn_keep_alive(keep_alive)
            .limit(self.connections_per_target_max);
        let client = ClientBuilder::new()
            .connector(connector)
            .add_default_header((USER_AGENT, self.user_agent.clone()))
            .disable_redirects()
            .disable_timeout()
            .finish();
        let body_bounds = BodyBounds {
            bytes_max: self.bounds.response_body_max_bytes,
            timeout: self.bounds.response_body_timeout,
        };
        Some(TargetClient { client, uri, timeout: self.timeout, body_bounds })
    }
}

impl TargetClient {
    /// Sends one request and reads the response. The timeout covers everything up to the end of the response head.
    pub(super) async fn post(&self, signed: SignedRequest) -> AttemptReport {
        let mut request = self.client.post(self.uri.clone());
        let headers: &mut HeaderMap = request.headers_mut();
        for (name, value) in signed.headers {
            headers.insert(name, value);
        }
        match timeout(self.timeout, request.send_body(signed.body)).await {
            Ok(Ok(response)) => read_response(response, self.body_bounds).await,
            Ok(Err(error)) => AttemptReport::failed(classify(&error)),
            Err(_) => AttemptReport::failed(AttemptFailure::Timeout),
        }
    }
}

fn classify(error: &SendRequestError) -> AttemptFailure {
    match error {
        SendRequestError::Timeout => AttemptFailure::Timeout,
        SendRequestError::Response(ParseError::TooLarge) => AttemptFailure::TooLarge,
        SendRequestError::Connect(error) => match error {
            ConnectError::Resolver(failure) => classify_connect(failure.as_ref()),
            // `GuardedConnector` reports the failures of TCP connections itself. The other failures before the request
            // come from the TLS handshake.
            ConnectError::Io(_) | ConnectError::SslIsNotSupported | ConnectError::Timeout => {
                AttemptFailure::Tls
            }
            ConnectError::NoRecords | ConnectError::Unresolved => AttemptFailure::Dns,
            _ => AttemptFailure::Protocol,
        },
        _ => AttemptFailure::Protocol,
    }
}

fn classify_connect(failure: &(dyn std::error::Error + 'static)) -> AttemptFailure {
    match failure.downcast_ref() {
        Some(ConnectFailure::BlockedAddress) => AttemptFailure::BlockedAddress,
        Some(ConnectFailure::Dns) => AttemptFailure::Dns,
        Some(ConnectFailure::Tcp(_) | ConnectFailure::Timeout) | None => AttemptFailure::Connect,
    }
}
