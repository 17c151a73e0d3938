//! Bytes on a socket, where it matters which ones.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

/// Sends these bytes and reads until the server closes.
pub(crate) fn exchange(url: &str, bytes: impl AsRef<[u8]>) -> String {
    talk(url, &[bytes.as_ref()])
}

/// Sends one piece after the other and reads until the server closes. A server may answer and close before it has
/// taken everything.
pub(crate) fn talk(url: &str, pieces: &[&[u8]]) -> String {
    let mut socket = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    for piece in pieces {
        if socket.write_all(piece).is_err() {
            break;
        }
    }
    let mut answer = Vec::new();
    match socket.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(_) if !answer.is_empty() => {}
        Err(error) => panic!("no answer: {error}"),
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status of the first answer in these bytes.
pub(crate) fn status_of(answer: &str) -> u16 {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.unwrap_or_else(|| panic!("no HTTP: {answer:?}"))
}

const PATIENCE: Duration = Duration::from_secs(20);
