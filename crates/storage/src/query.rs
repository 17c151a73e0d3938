//! Fragments of SQL that diesel does not have.

pub(crate) mod any_of;
pub(crate) mod row_lock;
pub(crate) mod row_types;
pub(crate) mod statement;
