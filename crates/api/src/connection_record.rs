//! Shared state of one HTTP connection. Requests on the connection update it, and a server that limits connections
//! reads it.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    task::Waker,
};

/// The state of one connection: whether it makes progress, has a request without a response, and is authenticated.
///
/// A server that limits connections inserts a record into the data of each connection, in actix-web's `on_connect`. The
/// middleware of this crate then updates the record.
#[derive(Debug, Clone, Default)]
pub struct ConnectionRecord(Rc<Record>);

#[derive(Debug, Default)]
struct Record {
    has_progressed: Cell<bool>,
    is_in_request: Cell<bool>,
    is_authenticated: Cell<bool>,
    is_upgraded: Cell<bool>,
    paused: RefCell<Option<Waker>>,
}

impl ConnectionRecord {
    /// Returns true if, since the last call of this function, a request has begun or a part of a request body was
    /// consumed.
    pub fn take_progress(&self) -> bool {
        self.0.has_progressed.take()
    }

    /// Returns true if a request has begun and has no response yet.
    pub fn is_in_request(&self) -> bool {
        self.0.is_in_request.get()
    }

    /// Returns true if the last request that got a response created an account, or was authenticated by a token or a
    /// secret. Also returns true for a WebSocket.
    pub fn is_authenticated(&self) -> bool {
        self.0.is_authenticated.get()
    }

    /// Returns true if the connection carries a WebSocket.
    pub fn is_upgraded(&self) -> bool {
        self.0.is_upgraded.get()
    }

    /// Registers a task to wake when a part of the body is consumed or the request ends. Replaces the task that was
    /// registered before.
    pub fn wake_on_progress(&self, task: &Waker) {
        self.0.paused.replace(Some(task.clone()));
    }

    /// Records that a request has begun.
    pub fn begin_request(&self) {
        self.0.is_in_request.set(true);
        self.0.has_progressed.set(true);
    }

    /// Records that a part of the request body, or a frame of a WebSocket, was consumed, and wakes the registered task.
    pub fn consume_body(&self) {
        self.0.has_progressed.set(true);
        self.wake();
    }

    /// Records that the request has a response, and wakes the registered task.
    pub fn end_request(&self) {
        self.0.is_in_request.set(false);
        self.wake();
    }

    pub(crate) fn upgrade(&self) {
        self.0.is_upgraded.set(true);
    }

    pub(crate) fn set_authenticated(&self, is_authenticated: bool) {
        self.0.is_authenticated.set(is_authenticated);
    }

    fn wake(&self) {
        if let Some(task) = self.0.paused.take() {
            task.wake();
        }
    }
}
