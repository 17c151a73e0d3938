//! Bytes on a socket, where it matters which ones.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

/// Sends these bytes and reads the answer.
pub(crate) fn exchange(url: &str, bytes: impl AsRef<[u8]>) -> String {
    talk(url, &[bytes.as_ref()])
}

/// Sends one piece after the other and reads the answer; it is empty where the server just closes. A server may
/// answer and close before it has taken everything.
pub(crate) fn talk(url: &str, pieces: &[&[u8]]) -> String {
    let mut socket = connect(url);
    for piece in pieces {
        if socket.write_all(piece).is_err() {
            break;
        }
    }
    answer_on(&mut socket)
}

/// A connection on which everything is waited for, but not for good.
pub(crate) fn connect(url: &str) -> TcpStream {
    let socket = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_write_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// The next answer; empty where the server just closes.
pub(crate) fn answer_on(socket: &mut TcpStream) -> String {
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    while !is_whole(&answer) {
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => answer.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("no answer: {error}"),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status of the answer in these bytes.
#[track_caller]
pub(crate) fn status_of(answer: &str) -> u16 {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.unwrap_or_else(|| panic!("no HTTP: {answer:?}"))
}

fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| body.len() >= length.trim().parse().unwrap())
}

const PATIENCE: Duration = Duration::from_secs(20);
