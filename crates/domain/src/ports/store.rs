//! The durability of commits, and the oldest snapshot of a database.

use std::time::Duration;

/// Decides whether a commit waits until the data is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The commit waits for the disk, so the transaction survives a crash of the machine.
    Durable,
    /// The commit does not wait for the disk. A crash of the machine may lose the newest transactions, each as a whole.
    /// Use this for repeatable work, such as recording the outcome of an attempt.
    Relaxed,
}

/// The oldest snapshot that the database must serve. The database keeps every row version that the snapshot may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldestSnapshot {
    /// The session, replica, prepared transaction or replication slot that has the snapshot.
    pub holder: String,
    /// Time since the start of its transaction; `None` if the database does not show it.
    pub age: Option<Duration>,
    /// Number of later transactions. 0 on SQLite.
    pub transactions: u64,
}
