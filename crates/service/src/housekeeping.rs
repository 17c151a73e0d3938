//! Housekeeping: deletes expired rows, wipes expired secrets, and reviews cached keys.

mod clock_lag;
pub(crate) mod housekeeper;
mod interval;
mod retention;
mod stop_signal;
mod task;
