//! The only way out: every connection that carries a notice is made here, to an address that was judged before and
//! is judged again once it stands. Whatever a URL or a name server says, nothing is written to a closed address.

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

use crate::{guard::AddressPolicy, names::Names};

/// Connects, and only to addresses that the policy allows. It resolves names itself: `actix_tls`' resolver never
/// asks a custom one about a URL that already holds an address, which would be a way around the policy.
#[derive(Clone)]
pub(crate) struct GuardedConnector {
    policy: AddressPolicy,
    names: Rc<dyn Names>,
    tcp: TcpConnectorService,
}

/// Why there is no connection. Travels inside [`ConnectError::Resolver`], the one variant that takes any error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoConnection {
    #[error("the address is not public")]
    Blocked,
    #[error("the name does not resolve")]
    Dns,
    #[error("connecting took too long")]
    Slow,
    #[error("no address could be connected to")]
    Tcp(#[source] io::Error),
}

impl GuardedConnector {
    pub(crate) fn new(policy: AddressPolicy, names: Rc<dyn Names>) -> Self {
        Self { policy, names, tcp: TcpConnector::default().service() }
    }

    async fn connect(
        self,
        wanted: ConnectInfo<Uri>,
    ) -> Result<Connection<Uri, TcpStream>, NoConnection> {
        let ips = self.resolve(wanted.hostname()).await?;
        // One forbidden address spoils the name: it would be luck which of them is used.
        if !ips.iter().all(|ip| self.policy.allows(*ip)) {
            return Err(NoConnection::Blocked);
        }
        let port = wanted.port();
        let wanted = wanted.set_addrs(ips.into_iter().map(|ip| SocketAddr::new(ip, port)));
        let connection = match timeout(CONNECT_MAX, self.tcp.call(wanted)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(ConnectError::Io(error))) => return Err(NoConnection::Tcp(error)),
            Ok(Err(_)) => return Err(NoConnection::Dns),
            Err(_) => return Err(NoConnection::Slow),
        };
        let peer = connection.io_ref().peer_addr().map_err(NoConnection::Tcp)?;
        if self.policy.allows(peer.ip()) { Ok(connection) } else { Err(NoConnection::Blocked) }
    }

    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, NoConnection> {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if let Ok(ip) = bare.parse() {
            return Ok(vec![ip]);
        }
        match self.names.lookup(host).await {
            Ok(ips) if !ips.is_empty() => Ok(ips),
            Ok(_) | Err(_) => Err(NoConnection::Dns),
        }
    }
}

impl Service<ConnectInfo<Uri>> for GuardedConnector {
    type Response = Connection<Uri, TcpStream>;
    type Error = ConnectError;
    type Future = LocalBoxFuture<'static, Result<Self::Response, ConnectError>>;

    actix_service::always_ready!();

    fn call(&self, wanted: ConnectInfo<Uri>) -> Self::Future {
        let connected = self.clone().connect(wanted);
        async move { connected.await.map_err(|fault| ConnectError::Resolver(Box::new(fault))) }
            .boxed_local()
    }
}

const CONNECT_MAX: Duration = Duration::from_secs(5);
