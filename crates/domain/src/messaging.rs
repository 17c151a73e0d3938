//! Messages: sealed envelopes, their channels, recipients, and idempotency keys of sends.

pub(crate) mod context;
pub(crate) mod envelope;
pub(crate) mod receipt;
pub(crate) mod recipient_policy;
pub(crate) mod trace_parent;
