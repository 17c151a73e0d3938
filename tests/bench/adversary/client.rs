//! A client that opens a connection for each request.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, socket_with,
    sockopt::{Timeout, set_socket_timeout},
};
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::wire::frame;

pub(crate) struct Client {
    pub(crate) server: SocketAddr,
    /// The client's own address. All addresses of 127.0.0.0/8 are on this machine.
    pub(crate) address: Ipv4Addr,
    /// `None` for HTTP.
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// Sends a request on a new connection and returns the response.
    pub(crate) fn ask(&self, request: &[u8]) -> io::Result<Response> {
        let stream = self.connect()?;
        let Some(config) = &self.tls else { return exchange(stream, request) };
        let name = IpAddr::from(Ipv4Addr::LOCALHOST).into();
        let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        exchange(StreamOwned::new(session, stream), request)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        bind(&socket, &SocketAddr::from((self.address, 0)))?;
        // Limits the connection attempt too.
        set_socket_timeout(&socket, Timeout::Send, Some(TIMEOUT))?;
        connect(&socket, &self.server)?;
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// Sends a request on an open connection and returns the response.
pub(crate) fn exchange(mut stream: impl Read + Write, request: &[u8]) -> io::Result<Response> {
    stream.write_all(request)?;
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut part)?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(part.get(..read).unwrap_or_default());
        if let Some(response) = frame(&bytes) {
            return Ok(Response { status: response.status(), body: response.body.to_vec() });
        }
    }
}

const TIMEOUT: Duration = Duration::from_secs(15);
