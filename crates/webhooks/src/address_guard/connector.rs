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
use futures_util::{StreamExt as _, stream::FuturesUnordered};

use super::{
    policy::AddressPolicy,
    resolver::{NameResolver, ResolveFailure},
};
use crate::local_error::LocalError;

/// Connects to allowed addresses only.
#[derive(Clone)]
pub(crate) struct GuardedConnector {
    pub(crate) policy: AddressPolicy,
    pub(crate) resolver: Rc<dyn NameResolver>,
}

/// The reason for a failed connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectFailure {
    #[error("the address is not public")]
    BlockedAddress,
    #[error("the name does not resolve")]
    Dns,
    #[error(transparent)]
    Local(#[from] LocalError),
    #[error("no address accepted a TCP connection")]
    Tcp(#[source] io::Error),
    #[error("the TCP connection timed out")]
    Timeout,
}

impl GuardedConnector {
    /// Connects to one of the addresses of a host. Fails without a connection if any of the addresses is forbidden.
    /// `host` is a name or an address; an IPv6 address has brackets, as in a URL.
    pub(crate) async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, ConnectFailure> {
        let ips = self.resolve(host).await?;
        let ips = self.policy.dialable(ips).ok_or(ConnectFailure::BlockedAddress)?;
        let dialed = timeout(CONNECT_TIMEOUT, dial(alternating(ips), port)).await;
        let stream = dialed.map_err(|_elapsed| ConnectFailure::Timeout)??;
        let peer = stream.peer_addr().map_err(ConnectFailure::Tcp)?;
        if self.policy.allows(peer.ip()) { Ok(stream) } else { Err(ConnectFailure::BlockedAddress) }
    }

    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, ConnectFailure> {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if let Ok(ip) = bare.parse() {
            return Ok(vec![ip]);
        }
        match self.resolver.resolve(host).await {
            Ok(ips) if !ips.is_empty() => Ok(ips),
            Err(ResolveFailure::Local(fault)) => Err(fault.into()),
            Ok(_) | Err(ResolveFailure::Unresolved) => Err(ConnectFailure::Dns),
        }
    }
}

/// Orders addresses so that both families alternate (RFC 8305, section 4). IPv4 comes first, because a broken IPv6
/// route is more frequent and would delay every connection.
fn alternating(ips: Vec<IpAddr>) -> impl Iterator<Item = IpAddr> {
    let (v4, v6): (Vec<_>, Vec<_>) = ips.into_iter().partition(IpAddr::is_ipv4);
    let (mut v4, mut v6) = (v4.into_iter(), v6.into_iter());
    let pairs = std::iter::from_fn(move || match (v4.next(), v6.next()) {
        (None, None) => None,
        (first, second) => Some([first, second]),
    });
    pairs.flatten().flatten()
}

/// Tries the addresses in order, and returns the first connection that opens. Starts with the next address when an
/// attempt fails, or [`ATTEMPT_DELAY`] after the previous attempt has started (RFC 8305, section 5). So an address that
/// does not respond delays the other addresses only briefly.
async fn dial(ips: impl Iterator<Item = IpAddr>, port: u16) -> Result<TcpStream, ConnectFailure> {
    let mut ips = ips.peekable();
    let mut attempts = FuturesUnordered::new();
    let mut failure = None;
    loop {
        attempts.extend(ips.next().map(|ip| TcpStream::connect(SocketAddr::new(ip, port))));
        let finished = match ips.peek() {
            Some(_) => timeout(ATTEMPT_DELAY, attempts.next()).await,
            None => Ok(attempts.next().await),
        };
        match finished {
            Ok(Some(Ok(stream))) => return Ok(stream),
            Ok(Some(Err(error))) => failure = Some(decisive(failure, error)),
            Ok(None) => return Err(failure.unwrap_or(ConnectFailure::Dns)),
            Err(_elapsed) => {}
        }
    }
}

/// Chooses the failure to report if several addresses have failed: `earlier`, or the failure `error` of the latest
/// address. A fault of this node takes precedence over a failure of the receiver, unless the [fault concerns one
/// address only](LocalError::is_of_one_address).
fn decisive(earlier: Option<ConnectFailure>, error: io::Error) -> ConnectFailure {
    match (earlier, LocalError::new(&error)) {
        (Some(ConnectFailure::Local(fault)), _) if !fault.is_of_one_address() => fault.into(),
        (Some(earlier @ ConnectFailure::Tcp(_)), Some(fault)) if fault.is_of_one_address() => {
            earlier
        }
        (_, Some(fault)) => fault.into(),
        (_, None) => ConnectFailure::Tcp(error),
    }
}

/// Maximum time to open a TCP connection to a target.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which the attempt at the next address starts, while the earlier attempts continue.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// Returns whether the node is to blame if the addresses of a target fail with these errors, one after the other.
    fn is_local(codes: &[Errno]) -> bool {
        let failure = codes.iter().fold(None, |earlier, code| {
            Some(decisive(earlier, io::Error::from_raw_os_error(code.raw_os_error())))
        });
        matches!(failure, Some(ConnectFailure::Local(_)))
    }

    #[test]
    fn a_fault_of_the_node_decides_unless_it_concerns_one_address() {
        for (codes, expected) in [
            (&[Errno::MFILE][..], true),
            (&[Errno::MFILE, Errno::CONNREFUSED], true),
            (&[Errno::CONNREFUSED, Errno::NFILE], true),
            (&[Errno::ADDRNOTAVAIL, Errno::ADDRNOTAVAIL], true),
            (&[Errno::MFILE, Errno::ADDRNOTAVAIL, Errno::CONNREFUSED], true),
            (&[Errno::ADDRNOTAVAIL, Errno::CONNREFUSED], false),
            (&[Errno::CONNREFUSED, Errno::ADDRNOTAVAIL], false),
            (&[Errno::CONNREFUSED, Errno::NETUNREACH], false),
        ] {
            assert_eq!(is_local(codes), expected, "{codes:?}");
        }
    }
}
