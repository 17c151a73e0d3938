//! Connects to the application that gets forwarded requests. The application must be on this machine.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use actix_rt::net::TcpStream;
use actix_service::{Service, fn_service};
use actix_tls::connect::{ConnectError, ConnectInfo, Connection};
use actix_web::http::Uri;
use awc::Connector;
use sealpost_webhooks::ResponseStream;
use tokio::net::lookup_host;

use crate::error::ReceiverError;

/// Checks the URL of the application. Fails if the URL does not lead to this machine, or leads to the listener itself.
/// `own` is the address of the listener; `None` for a relay, which has no listener.
pub(super) fn check_application(url: &Uri, own: Option<SocketAddr>) -> Result<(), ReceiverError> {
    let host = host_of(url);
    let is_localhost = is_localhost(host);
    if !is_localhost && !host.parse().is_ok_and(is_loopback) {
        return Err(ReceiverError::ForwardsElsewhere(url.clone()));
    }
    let is_own = |own: SocketAddr| {
        let own_ip = own.ip().to_canonical();
        // A listener on an unspecified address, such as `0.0.0.0`, receives requests to every address of this machine.
        let is_own_ip = |ip: IpAddr| own_ip.is_unspecified() || ip.to_canonical() == own_ip;
        (is_localhost || host.parse().is_ok_and(is_own_ip)) && port_of(url) == own.port()
    };
    if own.is_some_and(is_own) { Err(ReceiverError::ForwardsToItself) } else { Ok(()) }
}

/// Returns a connector that connects only to loopback addresses. Its connections skip interim responses (status 1xx).
pub(super) fn connector() -> Connector<
    impl Service<ConnectInfo<Uri>, Response = Connection<Uri, ResponseStream>, Error = ConnectError>
    + Clone,
> {
    Connector::new().connector(fn_service(async |info: ConnectInfo<Uri>| {
        let url = info.request().clone();
        match connect(&url).await {
            Ok(stream) => Ok(Connection::new(url, stream.into())),
            Err(error) => Err(ConnectError::Io(error)),
        }
    }))
}

async fn connect(url: &Uri) -> io::Result<TcpStream> {
    let addresses = lookup_host((host_of(url), port_of(url))).await?;
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses.filter(|address| is_loopback(address.ip())) {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Returns true if a host name always resolves to this machine (RFC 6761, section 6.3).
fn is_localhost(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

fn host_of(url: &Uri) -> &str {
    url.host().unwrap_or_default().trim_matches(['[', ']'])
}

fn port_of(url: &Uri) -> u16 {
    url.port_u16().unwrap_or(80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_does_not_forward_to_itself() {
        let check = |own: &str, url: &str| {
            check_application(&url.parse().unwrap(), Some(own.parse().unwrap()))
        };
        for (own, url) in [
            ("127.0.0.1:80", "http://127.0.0.1/"),
            ("127.0.0.1:4040", "http://localhost:4040/"),
            ("127.0.0.1:4040", "http://[::ffff:127.0.0.1]:4040/"),
            ("[::ffff:127.0.0.1]:4040", "http://127.0.0.1:4040/"),
            ("0.0.0.0:4040", "http://127.0.0.1:4040/"),
            ("[::]:4040", "http://127.0.0.2:4040/"),
            ("[::]:4040", "http://[::1]:4040/"),
        ] {
            let checked = check(own, url);
            assert!(matches!(checked, Err(ReceiverError::ForwardsToItself)), "{own} {url}");
        }
        for (own, url) in [
            ("127.0.0.1:4040", "http://127.0.0.1:3000/"),
            ("127.0.0.1:4040", "http://127.0.0.2:4040/"),
            ("0.0.0.0:4040", "http://127.0.0.1:3000/"),
        ] {
            check(own, url).unwrap();
        }
    }
}
