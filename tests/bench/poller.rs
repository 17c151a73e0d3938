//! Waits on many sockets in one thread. Uses epoll directly: pacing needs waits below a millisecond, and load
//! and receiver must use little CPU time.

use std::{
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
};

pub(crate) struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Poller {
    pub(crate) fn new() -> Self {
        let epoll = epoll::create(CreateFlags::CLOEXEC).expect("epoll is available");
        Self { epoll, events: Vec::with_capacity(EVENTS_MAX) }
    }

    /// Reports `token` while the socket has data to read. A closed socket is removed.
    pub(crate) fn watch(&self, socket: impl AsFd, token: usize) {
        let data = EventData::new_u64(u64::try_from(token).expect("a small number"));
        epoll::add(&self.epoll, socket, data, EventFlags::IN).expect("the socket is open");
    }

    /// Returns the tokens of readable sockets, or none after the timeout.
    pub(crate) fn wait(&mut self, timeout: Duration) -> impl Iterator<Item = usize> + use<> {
        let timeout = Timespec::try_from(timeout).expect("a short time");
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => panic!("epoll: {error}"),
        }
        let tokens: Vec<_> = self.events.iter().map(|event| { event.data }.u64()).collect();
        tokens.into_iter().map(|token| usize::try_from(token).expect("a token is a usize"))
    }
}

const EVENTS_MAX: usize = 256;
