//! The port for nodes: the servers that use the database.

use super::error::StoreError;
use crate::{LeaseToken, Timestamp};

/// A server that uses the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Random number that the server chose when it started.
    pub id: LeaseToken,
    /// Host name of the server.
    pub host: String,
    /// Version of the program.
    pub version: String,
    /// Time of the start.
    pub started_at: Timestamp,
    /// Time of the last renewal of this row.
    pub seen_at: Timestamp,
}

/// The progress of a housekeeping task. One node at a time runs the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTurn {
    /// Name of the task.
    pub task: String,
    /// The node that has the turn or had the last turn.
    pub node: LeaseToken,
    /// End of the turn. The task has processed the rows that expired before the begin of the turn.
    pub until: Timestamp,
}

/// Writes nodes.
pub trait NodeRepo {
    /// Inserts or renews a node. Deletes nodes that were last seen before `kept_from`.
    fn record_node(&mut self, node: &Node, kept_from: Timestamp) -> Result<(), StoreError>;
}
