//! Nodes: the server processes that use the database.

use std::time::Duration;

use crate::{LeaseToken, Timestamp};

/// A server process that uses the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Random number that the server chose when it started.
    pub id: LeaseToken,
    /// Host name of the server.
    pub host: String,
    /// Version of the server program.
    pub version: String,
    /// Public URL of the service in the settings of the server. `None` in the row of a server of an earlier version.
    pub base_url: String,
    /// Time at which the server started.
    pub started_at: Timestamp,
    /// Time at which the server last updated this row.
    pub seen_at: Timestamp,
}

impl Node {
    /// Whether the server was seen within the last three minutes. A running server renews its row once a minute.
    pub fn is_running(&self, now: Timestamp) -> bool {
        now.abs_diff(self.seen_at) < STOPPED_AFTER
    }
}

/// The newest turn of a housekeeping task: the exclusive right of one node to run the task for a limited time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTurn {
    /// Name of the task.
    pub task: String,
    /// The node that has the turn or had the last turn.
    pub node: LeaseToken,
    /// End of the turn. Afterwards any node may take the next turn.
    pub until: Timestamp,
}

/// Time after its last sign of life at which a server counts as stopped.
const STOPPED_AFTER: Duration = Duration::from_mins(3);
