//! Durable commits: waits for a commit until a deadline. After a missed deadline, refuses durable writes until a commit
//! succeeds.

use std::thread;

use sealpost_domain::ports::StoreError;

use crate::{
    connection::{
        commit_threads::{CommitThreads, NoResult},
        connect::{Target, connect},
        fault::unavailable,
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
    /// The server whose commits have a deadline. `None` for SQLite: its commits wait for no server, but may take long
    /// because they copy the write-ahead log into the database file.
    server: Option<Server>,
}

/// A database server, whose response to a commit may never arrive.
#[derive(Debug)]
struct Server {
    threads: CommitThreads,
    target: Target,
    settings: Settings,
}

impl DurableCommits {
    pub(crate) fn embedded() -> Self {
        Self { gate: WriteGate::default(), server: None }
    }

    pub(crate) fn of_server(target: Target, settings: Settings) -> Self {
        let server = Server { threads: CommitThreads::default(), target, settings };
        Self { gate: WriteGate::default(), server: Some(server) }
    }

    /// Returns [`StoreError::Unavailable`] after a commit without a response, until a later durable commit succeeds.
    pub(crate) fn admit(&self) -> Result<(), StoreError> {
        if self.gate.is_closed() { Err(unavailable(NO_RESPONSE)) } else { Ok(()) }
    }

    /// Runs the commit. If no response arrives before the deadline, closes the write gate (refuses durable writes),
    /// ends the server process of the connection, and returns [`StoreError::InDoubt`].
    pub(crate) fn run(
        &self,
        process: Option<i32>,
        commit: impl FnOnce() -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), StoreError> {
        let done = match &self.server {
            None => Ok(commit()),
            Some(server) => server.threads.run(server.settings.commit_timeout, commit),
        };
        match done {
            Ok(done) => done.inspect(|()| self.gate.committed()),
            Err(NoResult::NotRun(error)) => Err(unavailable(error)),
            Err(lost) => {
                self.gate.close();
                if let (Some(server), Some(process)) = (&self.server, process) {
                    server.end_commit(process);
                }
                Err(StoreError::InDoubt(lost.into()))
            }
        }
    }
}

impl Server {
    /// Ends the server process of a hung commit in the background. The end of the process releases the locks of the
    /// transaction, and frees the connection's slot in the pool.
    fn end_commit(&self, process: i32) {
        let (target, settings) = (self.target.clone(), self.settings);
        let ended = thread::Builder::new().name("commit-end".to_owned()).spawn(move || {
            let done = connect(&target, &settings)
                .map_err(unavailable)
                .and_then(|mut conn| Ok(write_probe::end_commit(&mut conn, process)?));
            if let Err(error) = done {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "the hung commit cannot be ended");
            }
        });
        if let Err(error) = ended {
            tracing::warn!(%error, "no thread could be started to end the hung commit");
        }
    }
}

const NO_RESPONSE: &str =
    "a commit had no response within its deadline: writes are refused until a probe write succeeds";
