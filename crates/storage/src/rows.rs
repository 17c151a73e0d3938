//! The types of database rows, with their columns and the conversions from and to domain types.

pub(crate) mod attempt;
pub(crate) mod columns;
pub(crate) mod delivery;
pub(crate) mod envelope;
pub(crate) mod event;
pub(crate) mod idempotency;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod retiring_secrets;
pub(crate) mod row_tags;
pub(crate) mod session;
pub(crate) mod usage;
pub(crate) mod webhook;
