//! One connection of the load: at most one request is under way on it.

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

    /// Sends a request, whose latency counts from `since`.
    pub(crate) fn send(&mut self, request: &[u8], since: Instant) {
        // With no other request under way, the socket's buffer is empty and takes all of it.
        self.stream.write_all(request).expect("the server reads");
        self.since = since;
        self.filled = 0;
    }

    /// The answer, once all of it is there, and since when it was awaited.
    pub(crate) fn receive(&mut self) -> Option<(Frame<'_>, Instant)> {
        let room = self.buffer.get_mut(self.filled..).expect("the buffer was not passed");
        match self.stream.read(room) {
            Ok(0) => panic!("the server closed the connection, or its answer is too long"),
            Ok(read) => self.filled += read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("the connection broke: {error}"),
        }
        let answer = frame(self.buffer.get(..self.filled)?)?;
        Some((answer, self.since))
    }
}

const BUFFER_LEN: usize = 16 * 1024;
