//! Periodic background work: deletes expired rows, wipes expired secrets, and compares cached keys with the database.

mod clock_lag;
pub(crate) mod housekeeper;
mod retention;
pub(crate) mod task;
mod waiting;
