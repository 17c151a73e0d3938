//! Opens the TCP connections of webhook requests, only to allowed addresses.
//!
//! The connector checks the resolved addresses before it connects, and the peer address afterwards. No byte is written
//! to a forbidden address.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    rc::Rc,
    time::Duration,
};

use actix_rt::{net::TcpStream, time::timeout};
use actix_service::Service;
use actix_tls::connect::{
    ConnectError, ConnectInfo, Connection,
    tcp::{TcpConnector, TcpConnectorService},
};
use awc::http::Uri;
use futures_util::{FutureExt as _, future::LocalBoxFuture};

use super::{policy::AddressPolicy, resolver::NameResolver};

/// Connects to allowed addresses only.
///
/// Resolves host names itself. `actix_tls` would not call a custom resolver if the URL contains an address instead of a
/// host name, so such an address would not be checked.
#[derive(Clone)]
pub(crate) struct GuardedConnector {
    policy: AddressPolicy,
    resolver: Rc<dyn NameResolver>,
    connect_timeout: Duration,
    tcp: TcpConnectorService,
}

/// The reason for a failed connection. Passed to the HTTP client inside [`ConnectError::Resolver`], the only variant
/// that accepts any error type.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectFailure {
    #[error("the address is not public")]
    BlockedAddress,
    #[error("the name does not resolve")]
    Dns,
    #[error("no address accepted a TCP connection")]
    Tcp(#[source] io::Error),
    #[error("the TCP connection timed out")]
    Timeout,
}

impl GuardedConnector {
    pub(crate) fn new(
        policy: AddressPolicy,
        resolver: Rc<dyn NameResolver>,
        connect_timeout: Duration,
    ) -> Self {
        Self { policy, resolver, connect_timeout, tcp: TcpConnector::default().service() }
    }

    async fn connect(
        self,
        info: ConnectInfo<Uri>,
    ) -> Result<Connection<Uri, TcpStream>, ConnectFailure> {
        let ips = self.resolve(info.hostname()).await?;
        // The TCP connector may choose any of the resolved addresses, so one forbidden address blocks the connection.
        if !ips.iter().all(|ip| self.policy.allows(*ip)) {
            return Err(ConnectFailure::BlockedAddress);
        }
        let port = info.port();
        let info = info.set_addrs(ips.into_iter().map(|ip| SocketAddr::new(ip, port)));
        let connection = match timeout(self.connect_timeout, self.tcp.call(info)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(ConnectError::Io(error))) => return Err(ConnectFailure::Tcp(error)),
            Ok(Err(_)) => return Err(ConnectFailure::Dns),
            Err(_) => return Err(ConnectFailure::Timeout),
        };
        let peer = connection.io_ref().peer_addr().map_err(ConnectFailure::Tcp)?;
        if self.policy.allows(peer.ip()) {
            Ok(connection)
        } else {
            Err(ConnectFailure::BlockedAddress)
        }
    }

    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, ConnectFailure> {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if let Ok(ip) = bare.parse() {
            return Ok(vec![ip]);
        }
        match self.resolver.resolve(host).await {
            Ok(ips) if !ips.is_empty() => Ok(ips),
            Ok(_) | Err(_) => Err(ConnectFailure::Dns),
        }
    }
}

impl Service<ConnectInfo<Uri>> for GuardedConnector {
    type Response = Connection<Uri, TcpStream>;
    type Error = ConnectError;
    type Future = LocalBoxFuture<'static, Result<Self::Response, ConnectError>>;

    actix_service::always_ready!();

    fn call(&self, info: ConnectInfo<Uri>) -> Self::Future {
        let connection = self.clone().connect(info);
        async move { connection.await.map_err(|failure| ConnectError::Resolver(Box::new(failure))) }
            .boxed_local()
    }
}
