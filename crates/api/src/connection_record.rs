//! A record of one connection, shared by its requests and the server.

use std::{cell::Cell, rc::Rc};

/// The progress of one connection. A server that bounds connections adds a record to the data of each connection
/// (`on_connect`). The middleware then updates the record.
#[derive(Debug, Clone, Default)]
pub struct ConnectionRecord(Rc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    has_begun: Cell<bool>,
    is_in_request: Cell<bool>,
    is_authenticated: Cell<bool>,
}

impl ConnectionRecord {
    /// Returns whether a request has begun since the last call.
    pub fn take_begun(&self) -> bool {
        self.0.has_begun.take()
    }

    /// Returns whether a request has begun and has no response yet.
    pub fn is_in_request(&self) -> bool {
        self.0.is_in_request.get()
    }

    /// Returns whether a request has succeeded that needs a session or a login secret, or created an account.
    pub fn is_authenticated(&self) -> bool {
        self.0.is_authenticated.get()
    }

    pub(crate) fn begin_request(&self) {
        self.0.has_begun.set(true);
        self.0.is_in_request.set(true);
    }

    pub(crate) fn end_request(&self) {
        self.0.is_in_request.set(false);
    }

    pub(crate) fn authenticate(&self) {
        self.0.is_authenticated.set(true);
    }
}
