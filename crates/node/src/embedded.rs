//! The embedded database: its folder and lock, the reserve of disk space, the replacement of the database by a backup,
//! and the move to PostgreSQL.

mod backup_source;
pub(crate) mod data_folder;
pub(crate) mod disk_reserve;
pub(crate) mod moving;
mod replaced;
pub(crate) mod restore;
mod write_ahead_log;
