//! Connections that send the beginning of a request, or nothing, and then stay silent.

use std::{
    collections::VecDeque,
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, connect, socket_with},
};

use crate::poller::Poller;

/// A number of connections, kept by a thread. A connection that the server closes or responds to is replaced
/// after a pause.
pub(crate) struct Crowd {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// Connections that have sent their whole beginning.
    silent: AtomicUsize,
    is_over: AtomicBool,
}

impl Crowd {
    /// Opens the connections. Waits until all are silent, at most [`GATHER_TIMEOUT`].
    pub(crate) fn gather(server: SocketAddr, size: usize, beginning: Vec<u8>) -> Self {
        let shared =
            Arc::new(Shared { silent: AtomicUsize::new(0), is_over: AtomicBool::new(false) });
        let keeper = Keeper {
            server,
            beginning,
            members: (0..size).map(|_| None).collect(),
            absent: (0..size).map(|place| (Instant::now(), place)).collect(),
        };
        let seen = Arc::clone(&shared);
        let thread =
            thread::Builder::new().name("crowd".to_owned()).spawn(move || keeper.run(&seen));
        let thread = Some(thread.expect("a thread can be started"));
        let started = Instant::now();
        while shared.silent.load(Ordering::Relaxed) < size && started.elapsed() < GATHER_TIMEOUT {
            thread::sleep(LOOK_EVERY);
        }
        Self { shared, thread }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // A panicked thread has printed its message.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// The state of the thread.
struct Keeper {
    server: SocketAddr,
    beginning: Vec<u8>,
    members: Vec<Option<Member>>,
    /// Places without a connection, and the time of the next one.
    absent: VecDeque<(Instant, usize)>,
}

struct Member {
    stream: TcpStream,
    sent: usize,
}

impl Keeper {
    fn run(mut self, shared: &Shared) {
        let mut poller = Poller::new();
        while !shared.is_over.load(Ordering::Relaxed) {
            let now = Instant::now();
            for _ in 0..JOIN_AT_ONCE {
                let Some((_, place)) = self.absent.pop_front_if(|(at, _)| *at <= now) else {
                    break;
                };
                self.join(&poller, place);
            }
            shared.silent.store(self.send(), Ordering::Relaxed);
            for place in poller.wait(LOOK_EVERY) {
                self.read(place);
            }
        }
    }

    fn join(&mut self, poller: &Poller, place: usize) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None);
        let socket = socket.expect("there are enough files");
        match connect(&socket, &self.server) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(_) => return self.leave(place),
        }
        let stream = TcpStream::from(socket);
        poller.watch(&stream, place);
        *self.place(place) = Some(Member { stream, sent: 0 });
    }

    /// Sends what the sockets take. Returns the number of silent connections.
    fn send(&mut self) -> usize {
        let (mut silent, mut broken) = (0, Vec::new());
        for (place, member) in self.members.iter_mut().enumerate() {
            let Some(member) = member else { continue };
            match member.send(&self.beginning) {
                Ok(true) => silent += 1,
                Ok(false) => {}
                Err(Closed) => broken.push(place),
            }
        }
        for place in broken {
            self.leave(place);
        }
        silent
    }

    /// Closes a connection that has a response or that the server has closed.
    fn read(&mut self, place: usize) {
        let Some(member) = self.place(place) else { return };
        match member.stream.read(&mut [0; 1024]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => self.leave(place),
        }
    }

    fn leave(&mut self, place: usize) {
        *self.place(place) = None;
        self.absent.push_back((Instant::now() + RETURN_AFTER, place));
    }

    fn place(&mut self, place: usize) -> &mut Option<Member> {
        self.members.get_mut(place).expect("the token is the index of the member")
    }
}

/// The server has closed the connection.
struct Closed;

impl Member {
    /// Returns whether the whole beginning is sent.
    fn send(&mut self, beginning: &[u8]) -> Result<bool, Closed> {
        while let Some(rest) = beginning.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(Closed),
            }
        }
        Ok(true)
    }
}

const RETURN_AFTER: Duration = Duration::from_millis(500);
/// More connections at once overflow the server's listen queue. Such a connection exists only for the client.
const JOIN_AT_ONCE: usize = 16;
const GATHER_TIMEOUT: Duration = Duration::from_secs(4);
const LOOK_EVERY: Duration = Duration::from_millis(10);
