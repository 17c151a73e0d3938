//! Operators who sign in over HTTP: their password file, the check of their credentials, their sessions, and their
//! actions.

pub(crate) mod access;
pub(crate) mod credentials;
pub(crate) mod password_file;
mod session;
