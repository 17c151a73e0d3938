//! The embedded database: its folder and lock, the reserve of disk space beside it, and its replacement by a backup.

pub(crate) mod data_folder;
pub(crate) mod disk_reserve;
pub(crate) mod restore;
