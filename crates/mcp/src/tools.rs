//! The tools: their arguments, their calls of the service, and their results.

pub(crate) mod identities;
pub(crate) mod messages;
pub(crate) mod sent;
pub(crate) mod waiting;
