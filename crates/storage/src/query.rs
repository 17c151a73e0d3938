//! Extensions of diesel: lists of values, row locks, row types with their columns, and prepared statements.

pub(crate) mod any_of;
pub(crate) mod row_address;
pub(crate) mod row_lock;
pub(crate) mod row_types;
pub(crate) mod statement;
pub(crate) mod time_position;
pub(crate) mod webhook_end;
