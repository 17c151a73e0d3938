//! Durable commits: their deadline, and the writes that are refused after a missed deadline.

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

/// Runs the durable commits of a database. Clones of the database share it.
#[derive(Debug)]
pub(crate) struct DurableCommits {
    pub(crate) gate: WriteGate,
    /// `None` for an embedded database: its commit may copy the whole log into the file, and waits for no server.
    server: Option<Server>,
}

/// A database server, which may leave a commit without a response.
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

    /// Returns `Unavailable` if the write gate is closed, because a commit got no response.
    pub(crate) fn admit(&self) -> Result<(), StoreError> {
        if self.gate.is_closed() { Err(unavailable(NO_RESPONSE)) } else { Ok(()) }
    }

    /// Runs the commit and records the result. After the deadline the result is in doubt, the gate is closed, and the
    /// server process of the connection is ended.
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
