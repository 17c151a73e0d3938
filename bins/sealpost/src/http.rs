//! A minimal blocking HTTP/1.1 client. The demo and the doctor use it to call servers on this machine.

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// A response. The body ends when the server closes the connection.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Sends one request and reads the whole response. Blocks the thread. `method_and_path` is for example `GET /metrics`,
/// and `fields` contains further header lines.
pub(crate) fn request(
    address: SocketAddr,
    method_and_path: &str,
    fields: &str,
    body: &str,
) -> io::Result<Response> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let length = body.len();
    let request = format!(
        "{method_and_path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{fields}\r\n\r\n\
         {body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut response = Vec::new();
    stream.take(RESPONSE_BYTES_MAX).read_to_end(&mut response)?;
    parse(&response).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn parse(response: &[u8]) -> Option<Response> {
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let (head, body) = response.split_at(end);
    let status = std::str::from_utf8(head).ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(Response { status, body: body.get(4..)?.to_owned() })
}

const TIMEOUT: Duration = Duration::from_secs(5);
const RESPONSE_BYTES_MAX: u64 = 1024 * 1024;
