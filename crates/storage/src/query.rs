//! Kinds of SQL queries and conditions that diesel does not offer.

pub(crate) mod any_of;
pub(crate) mod row_lock;
pub(crate) mod row_types;
pub(crate) mod statement;
