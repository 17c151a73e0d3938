//! One connection of the load, with at most one request in flight.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Instant,
};

use crate::{
    poller::Poller,
    wire::{Frame, frame},
};

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    since: Instant,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server accepts");
        stream.set_nodelay(true).expect("the socket is open");
        stream.set_nonblocking(true).expect("the socket is open");
        Self { stream, buffer: vec![0; BUFFER_LEN], filled: 0, since: Instant::now() }
    }

    pub(crate) fn watch(&self, poller: &Poller, token: usize) {
        poller.watch(&self.stream, token);
    }

    /// Sends a request. Its latency counts from `since`.
    pub(crate) fn send(&mut self, request: &[u8], since: Instant) {
        // Without another request in flight, the socket's buffer is empty and takes the whole request.
        self.stream.write_all(request).expect("the server reads");
        self.since = since;
        self.filled = 0;
    }

    /// Returns the complete response and the start of its latency.
    pub(crate) fn receive(&mut self) -> Option<(Frame<'_>, Instant)> {
        let room = self.buffer.get_mut(self.filled..).expect("the fill level is inside the buffer");
        match self.stream.read(room) {
            Ok(0) => panic!("the server closed the connection, or its response is too long"),
            Ok(read) => self.filled += read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("the connection broke: {error}"),
        }
        let response = frame(self.buffer.get(..self.filled)?)?;
        Some((response, self.since))
    }
}

const BUFFER_LEN: usize = 64 * 1024;
