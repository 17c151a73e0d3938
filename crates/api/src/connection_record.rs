//! Records the progress of a connection. The requests update the record, and the server reads it.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    task::Waker,
};

/// The progress of one connection. A server that bounds connections adds a record to the data of each connection in
/// `on_connect`. The middleware then updates the record.
#[derive(Debug, Clone, Default)]
pub struct ConnectionRecord(Rc<Record>);

#[derive(Debug, Default)]
struct Record {
    has_progressed: Cell<bool>,
    is_in_request: Cell<bool>,
    is_authenticated: Cell<bool>,
    paused: RefCell<Option<Waker>>,
}

impl ConnectionRecord {
    /// Returns whether a request has begun, or a part of its body was consumed, since the last call.
    pub fn take_progress(&self) -> bool {
        self.0.has_progressed.take()
    }

    /// Returns whether a request has begun and has no response yet.
    pub fn is_in_request(&self) -> bool {
        self.0.is_in_request.get()
    }

    /// Returns whether a request has succeeded that needs a session or a login secret, or created an account.
    pub fn is_authenticated(&self) -> bool {
        self.0.is_authenticated.get()
    }

    /// Wakes this task at the next progress, or at the end of the request.
    pub fn wake_on_progress(&self, task: &Waker) {
        self.0.paused.replace(Some(task.clone()));
    }

    /// Notes that a request has begun.
    pub fn begin_request(&self) {
        self.0.is_in_request.set(true);
        self.0.has_progressed.set(true);
    }

    /// Notes that a part of the body was consumed.
    pub fn consume_body(&self) {
        self.0.has_progressed.set(true);
        self.wake();
    }

    /// Notes that the request has a response.
    pub fn end_request(&self) {
        self.0.is_in_request.set(false);
        self.wake();
    }

    pub(crate) fn authenticate(&self) {
        self.0.is_authenticated.set(true);
    }

    fn wake(&self) {
        if let Some(task) = self.0.paused.take() {
            task.wake();
        }
    }
}
