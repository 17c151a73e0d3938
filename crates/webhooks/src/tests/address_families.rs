//! Tests of host names with several addresses: silent ones, addresses of both families, and translated ones.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use sealpost_domain::{Outcome, ports::TargetGuard as _};
use tokio::net::TcpSocket;

use super::{
    connections::outcome_at,
    fake_resolver::fixed,
    fixture::{result_at, settings},
    test_receiver::{OK, Receiver},
};
use crate::AddressGuard;

/// Returns a listener that accepts no connection and has a full queue. Further attempts to connect get no response.
fn silent_address(ip: &str, port: u16) -> (TcpListener, Vec<TcpStream>) {
    let address = SocketAddr::new(ip.parse().unwrap(), port);
    let listener = actix_rt::Runtime::new().unwrap().block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(address).unwrap();
        socket.listen(0).unwrap().into_std().unwrap()
    });
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok();
    let waiting: Vec<_> = std::iter::from_fn(connect).collect();
    (listener, waiting)
}

#[test]
fn a_silent_address_delays_the_next_one_only_shortly() {
    let receiver = Receiver::start(|_| OK);
    let port = receiver.addr.port();
    let _silent = [silent_address("127.0.0.2", port), silent_address("127.0.0.4", port)];
    let result = result_at(settings(), &format!("http://silent.test:{port}/"));
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert!((500..2_500).contains(&result.duration_ms), "{}", result.duration_ms);
}

#[test]
fn an_ipv6_address_is_tried_beside_an_ipv4_address() {
    let listener = TcpListener::bind("[::1]:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            drop(stream.read(&mut [0; 4096]));
            drop(stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n"));
        }
    });
    let url = format!("http://families.test:{port}/");
    assert_eq!(outcome_at(settings(), &url), Outcome::Succeeded);
}

/// A name server with DNS64 adds a translated (NAT64) address to a name that has an IPv4 address.
#[test]
fn a_translated_address_beside_an_ipv4_address_is_not_used() {
    let receiver = Receiver::start(|_| OK);
    let url = format!("http://nat64.test:{}/", receiver.addr.port());
    assert_eq!(outcome_at(settings(), &url), Outcome::Succeeded);
    let guard = AddressGuard::with_resolver(settings().policy, fixed);
    assert!(guard.vet(&url).is_ok());
    assert!(guard.vet("http://only-nat64.test:8443/").is_err());
}
