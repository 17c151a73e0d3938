//! Tests of the limits of connections that have not authenticated, and of the size of request heads.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
};

use crate::support::{
    Database, Identity, SOON, Server, connect, response_on, status_of, wait_until,
};

#[test]
fn a_new_connection_closes_the_oldest_anonymous_one_of_its_address() {
    let limits = ["--max-anonymous-connections-per-address=3", "--workers=1"];
    let server = Database::embedded().serve_with(&limits);
    let alice = server.new_identity();
    let mut authenticated = connect(&server.url);
    assert_eq!(status_of(&ask_status(&mut authenticated, &alice)), 200);
    let mut other = connect_from(&server, 2);
    await_anonymous(&server, 1);
    let mut silent = Vec::new();
    for nth in 0..3 {
        silent.push(connect_from(&server, 1));
        await_anonymous(&server, nth + 2);
    }
    silent.push(connect_from(&server, 1));
    assert_closed(&mut silent[0]);
    assert_eq!(server.metric("sealpost_anonymous_connections"), 4);
    for socket in silent[1..].iter_mut().chain([&mut other]) {
        assert_eq!(status_of(&ping(socket)), 200);
    }
    assert_eq!(status_of(&ask_status(&mut authenticated, &alice)), 200);
    assert_eq!(server.metric("sealpost_anonymous_connections_evicted_total"), 1);
}

#[test]
fn a_new_connection_closes_the_oldest_anonymous_one_of_all() {
    let limits = ["--max-anonymous-connections=2", "--workers=1"];
    let server = Database::embedded().serve_with(&limits);
    let mut sockets = Vec::new();
    for nth in 1..=3 {
        sockets.push(connect_from(&server, nth));
        await_anonymous(&server, u64::from(nth).min(2));
    }
    assert_closed(&mut sockets[0]);
    for socket in &mut sockets[1..] {
        assert_eq!(status_of(&ping(socket)), 200);
    }
}

#[test]
fn a_request_without_authentication_makes_its_connection_anonymous_again() {
    let limits = ["--max-anonymous-connections-per-address=1", "--workers=1"];
    let server = Database::embedded().serve_with(&limits);
    let alice = server.new_identity();
    let mut socket = connect_from(&server, 2);
    assert_eq!(status_of(&ask_status(&mut socket, &alice)), 200);
    await_anonymous(&server, 0);
    assert_eq!(status_of(&ping(&mut socket)), 200);
    await_anonymous(&server, 1);
    let mut newer = connect_from(&server, 2);
    assert_closed(&mut socket);
    assert_eq!(status_of(&ping(&mut newer)), 200);
}

#[test]
fn connections_of_a_trusted_proxy_are_not_limited() {
    let limits = ["--max-anonymous-connections=1", "--trusted-proxy=127.0.0.0/8"];
    let server = Database::embedded().serve_with(&limits);
    let mut sockets = [(); 5].map(|()| connect(&server.url));
    for socket in &mut sockets {
        assert_eq!(status_of(&ping(socket)), 200);
    }
    assert_eq!(server.metric("sealpost_anonymous_connections"), 0);
}

#[test]
fn an_unfinished_head_over_the_limit_is_refused() {
    let server = Server::shared();
    let large = format!("GET /v1/ping HTTP/1.1\r\nHost: x\r\nX-Large: {}", "a".repeat(17_000));
    let mut socket = connect(&server.url);
    socket.write_all(large.as_bytes()).unwrap();
    assert_eq!(status_of(&response_on(&mut socket)), 431);
    // Also after a response.
    let mut socket = connect(&server.url);
    assert_eq!(status_of(&ping(&mut socket)), 200);
    socket.write_all(large.as_bytes()).unwrap();
    assert_eq!(status_of(&response_on(&mut socket)), 431);
    assert_closed(&mut socket);
}

#[test]
fn pipelined_requests_are_not_one_head() {
    let server = Server::shared();
    let mut socket = connect(&server.url);
    let request =
        format!("GET /v1/ping HTTP/1.1\r\nHost: x\r\nX-Large: {}\r\n\r\n", "a".repeat(900));
    let count = 60;
    socket.write_all(request.repeat(count).as_bytes()).unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let mut responses = String::new();
    socket.read_to_string(&mut responses).unwrap();
    assert_eq!(responses.matches("HTTP/1.1 200 OK").count(), count);
}

/// Connects from 127.0.0.`last`. Each such address counts as a separate client.
fn connect_from(server: &Server, last: u8) -> TcpStream {
    let address: SocketAddr = server.url.strip_prefix("http://").unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let socket = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0))).unwrap();
        socket.connect(address).await.unwrap().into_std().unwrap()
    });
    socket.set_nonblocking(false).unwrap();
    socket.set_read_timeout(Some(SOON)).unwrap();
    socket
}

fn ping(socket: &mut TcpStream) -> String {
    socket.write_all(b"GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    response_on(socket)
}

fn ask_status(socket: &mut TcpStream, identity: &Identity) -> String {
    let Identity { token, key, .. } = identity;
    let request = format!(
        "POST /v1/did/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
         X-DID-API-Key: {key}\r\nContent-Length: 0\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).unwrap();
    response_on(socket)
}

#[track_caller]
fn await_anonymous(server: &Server, count: u64) {
    wait_until("the server has accepted the connections", || {
        server.metric("sealpost_anonymous_connections") == count
    });
}

#[track_caller]
fn assert_closed(socket: &mut TcpStream) {
    let read = socket.read(&mut [0]);
    let is_closed = match &read {
        Ok(length) => *length == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    };
    assert!(is_closed, "{read:?}");
}
