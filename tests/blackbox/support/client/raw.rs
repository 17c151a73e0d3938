//! HTTP over a plain TCP socket, for tests that send exact bytes.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

/// Sends these bytes on a new connection, and reads the response.
pub(crate) fn exchange(url: &str, bytes: impl AsRef<[u8]>) -> String {
    talk(url, &[bytes.as_ref()])
}

/// Sends the pieces in order, and reads the response. Returns an empty text if the server closes the connection without
/// a response. Errors of writes are ignored, because the server may respond and close the connection before it has read
/// all pieces.
pub(crate) fn talk(url: &str, pieces: &[&[u8]]) -> String {
    let mut socket = connect(url);
    for piece in pieces {
        if socket.write_all(piece).is_err() {
            break;
        }
    }
    response_on(&mut socket)
}

/// Opens a connection with time limits on reads and writes.
pub(crate) fn connect(url: &str) -> TcpStream {
    let socket = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    socket.set_read_timeout(Some(RESPONSE_TIMEOUT)).unwrap();
    socket.set_write_timeout(Some(RESPONSE_TIMEOUT)).unwrap();
    socket
}

/// Reads the next response on the connection. Returns an empty text if the server closes the connection without a
/// response.
pub(crate) fn response_on(socket: &mut TcpStream) -> String {
    let (mut response, mut buffer) = (Vec::new(), [0; 4096]);
    while !is_whole(&response) {
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => response.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("no response: {error}"),
        }
    }
    String::from_utf8_lossy(&response).into_owned()
}

/// Reads until the server closes the connection.
pub(crate) fn read_to_end(socket: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match socket.read_to_end(&mut bytes) {
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => {
            panic!("no end: {error}")
        }
        _ => bytes,
    }
}

/// Returns the status code of an HTTP response.
#[track_caller]
pub(crate) fn status_of(response: &str) -> u16 {
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.unwrap_or_else(|| panic!("no HTTP: {response:?}"))
}

fn is_whole(response: &[u8]) -> bool {
    let text = String::from_utf8_lossy(response).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| body.len() >= length.trim().parse::<usize>().unwrap())
}

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);
