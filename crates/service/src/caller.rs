//! The caller of a use case: credentials, authentication with its session look-ups, admission, and limits.

pub(crate) mod access;
pub(crate) mod admission;
pub(crate) mod authenticate;
pub(crate) mod authenticated;
pub(crate) mod bearer;
pub(crate) mod credentials;
pub(crate) mod limited;
pub(crate) mod session_lookups;
pub(crate) mod session_queue;
pub(crate) mod token_use_queue;
pub(crate) mod token_uses;
pub(crate) mod transaction;
