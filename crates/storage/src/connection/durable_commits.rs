//! Runs durable commits with a deadline. After a missed deadline, refuses durable writes until a commit succeeds.
//!
//! Without a deadline, every request would wait forever if a disk or a standby server stopped responding. On SQLite,
//! the deadline costs 4 % of the request rate with 64 connections, and 0.05 ms for each send with one connection.

mod commit_threads;

use sealpost_domain::{ports::StoreError, with_causes};

use self::commit_threads::{CommitThreads, NoResult};
use crate::{
    connection::{
        connect::{Target, connect},
        query_error::unavailable,
        write_gate::WriteGate,
        write_probe,
    },
    settings::Settings,
};

/// Runs the durable commits of a database, and refuses durable writes after a missed deadline. All clones of a
/// `Database` share one instance.
#[derive(Debug)]
pub(crate) struct DurableCommits {
    pub(crate) gate: WriteGate,
    pub(super) threads: CommitThreads,
    target: Target,
    settings: Settings,
}

impl DurableCommits {
    pub(crate) fn new(target: Target, settings: Settings) -> Self {
        Self { gate: WriteGate::default(), threads: CommitThreads::default(), target, settings }
    }

    /// Returns [`StoreError::Unavailable`] if a durable commit got no response, and no durable commit has succeeded
    /// since.
    pub(crate) fn admit(&self) -> Result<(), StoreError> {
        if self.gate.is_closed() { Err(unavailable(NO_RESPONSE)) } else { Ok(()) }
    }

    /// Runs the commit, and waits for its result until the deadline. If no result arrives in time, refuses further
    /// durable writes and returns [`StoreError::InDoubt`].
    ///
    /// On PostgreSQL, then also ends `process`, the server process that runs the commit. On SQLite, the commit
    /// continues in its thread, and keeps the write lock until the disk responds.
    pub(crate) fn run(
        &self,
        process: Option<i32>,
        commit: impl FnOnce() -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), StoreError> {
        match self.threads.run(self.settings.commit_timeout, commit) {
            Ok(done) => done.inspect(|()| self.gate.committed()),
            Err(NoResult::NotRun(error)) => Err(unavailable(error)),
            Err(lost) => {
                self.gate.close();
                if let Some(process) = process {
                    self.end_commit(process);
                }
                Err(StoreError::InDoubt(lost.into()))
            }
        }
    }

    /// Ends the server process of a hung commit in the background. The end of the process releases the locks of the
    /// transaction, and frees the connection's slot in the pool.
    fn end_commit(&self, process: i32) {
        let (target, settings) = (self.target.clone(), self.settings);
        let ended = self.threads.submit(Box::new(move || {
            let done = connect(&target, &settings)
                .map_err(unavailable)
                .and_then(|mut conn| Ok(write_probe::end_commit(&mut conn, process)?));
            if let Err(error) = done {
                tracing::warn!(error = with_causes(&error), "the hung commit cannot be ended");
            }
        }));
        if let Err(error) = ended {
            tracing::warn!(%error, "no thread could be started to end the hung commit");
        }
    }
}

const NO_RESPONSE: &str =
    "a commit had no response within its deadline: writes are refused until a probe write succeeds";

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, sync::mpsc, time::Duration};

    use super::*;

    /// A commit of SQLite waits for no server, but a disk may stop responding.
    #[test]
    fn a_commit_of_sqlite_has_a_deadline() {
        let target = Target::SqliteWriter(PathBuf::new());
        let settings = Settings { commit_timeout: Duration::from_millis(5), ..Settings::default() };
        let commits = DurableCommits::new(target, settings);
        let (disk, stalled) = mpsc::channel();
        let commit = move || {
            stalled.recv().unwrap();
            Ok(())
        };
        let lost = commits.run(None, commit).unwrap_err();
        assert!(matches!(lost, StoreError::InDoubt(_)), "{lost:?}");
        assert!(matches!(commits.admit(), Err(StoreError::Unavailable(_))));

        disk.send(()).unwrap();
        assert!(commits.admit().is_err(), "a late commit does not open the gate");
        let settings = Settings { commit_timeout: Duration::from_mins(1), ..settings };
        let commits = DurableCommits { settings, ..commits };
        commits.run(None, || Ok(())).unwrap();
        commits.admit().unwrap();
    }
}
