//! Opens the connections to one target for the HTTP client awc. Each connection is a guarded TCP connection, with TLS
//! for an `https` URL, wrapped in a [`ResponseStream`].
//!
//! TLS is opened here and not by awc, so awc gets an `http` URL even for an `https` target. There are two reasons:
//! [`ResponseStream`] could not read the TLS sessions of awc, and the errors of awc do not contain the reason of a
//! failed handshake.

use std::{io, sync::Arc, time::Duration};

use actix_rt::{net::TcpStream, time::timeout};
use actix_service::Service;
use actix_tls::connect::{ConnectError, ConnectInfo, Connection};
use awc::http::Uri;
use futures_util::{FutureExt as _, future::LocalBoxFuture};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio_rustls::TlsConnector;

use super::response_stream::ResponseStream;
use crate::address_guard::connector::{ConnectFailure, GuardedConnector};

#[derive(Clone)]
pub(super) struct TargetConnector {
    pub(super) guarded: GuardedConnector,
    /// The TLS settings; `None` for an `http` URL.
    pub(super) tls: Option<TargetTls>,
}

/// The configuration and the host name for the TLS sessions with one target.
#[derive(Clone)]
pub(super) struct TargetTls {
    pub(super) config: Arc<ClientConfig>,
    pub(super) name: ServerName<'static>,
}

/// The reason for a failed connection. Passed to the HTTP client inside [`ConnectError::Resolver`], the only variant
/// that accepts any error type.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenFailure {
    #[error(transparent)]
    Connect(#[from] ConnectFailure),
    #[error("the TLS handshake failed")]
    Tls(#[source] io::Error),
}

impl TargetConnector {
    async fn open(self, uri: &Uri) -> Result<ResponseStream, OpenFailure> {
        let port = uri.port_u16().unwrap_or(HTTP_PORT);
        let stream = self.guarded.connect(uri.host().unwrap_or_default(), port).await?;
        match self.tls {
            Some(tls) => Ok(tls.open(stream).await.map_err(OpenFailure::Tls)?),
            None => Ok(stream.into()),
        }
    }
}

impl TargetTls {
    async fn open(self, stream: TcpStream) -> io::Result<ResponseStream> {
        let handshake = TlsConnector::from(self.config).connect(self.name, stream);
        match timeout(HANDSHAKE_TIMEOUT, handshake).await {
            Ok(stream) => Ok(stream?.into()),
            Err(_elapsed) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the TLS handshake timed out"))
            }
        }
    }
}

impl Service<ConnectInfo<Uri>> for TargetConnector {
    type Response = Connection<Uri, ResponseStream>;
    type Error = ConnectError;
    type Future = LocalBoxFuture<'static, Result<Self::Response, ConnectError>>;

    actix_service::always_ready!();

    fn call(&self, info: ConnectInfo<Uri>) -> Self::Future {
        let connector = self.clone();
        async move {
            let uri = info.request().clone();
            match connector.open(&uri).await {
                Ok(stream) => Ok(Connection::new(uri, stream)),
                Err(failure) => Err(ConnectError::Resolver(Box::new(failure))),
            }
        }
        .boxed_local()
    }
}

/// Maximum time of a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The default port of `http` URLs.
const HTTP_PORT: u16 = 80;
