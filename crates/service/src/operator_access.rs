//! Operators who sign in over HTTP: their password file, the check of their credentials, their sessions, and the acts
//! that they perform.

pub(crate) mod access;
pub(crate) mod credentials;
pub(crate) mod desk;
pub(crate) mod password_file;
mod session;
