//! Decides whether durable writes are accepted. After a commit without a response, the gate is closed: durable writes
//! are refused. The next successful commit, usually of a probe write, opens the gate again.

use std::{
    fmt,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

/// Accepts or refuses durable writes to a database, and tracks the last commit and the probe writes.
#[derive(Debug, Default)]
pub(crate) struct WriteGate {
    state: Mutex<GateState>,
    probe_ended: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    is_closed: bool,
    last_commit: Option<Instant>,
    probe: Option<Instant>,
    last_probe: Option<EndedProbe>,
    /// True if the newest probe write failed. The failure is then already logged.
    is_failing: bool,
}

#[derive(Debug)]
struct EndedProbe {
    at: Instant,
    /// The error of the probe write; `None` if the probe write succeeded.
    failure: Option<String>,
}

/// The reasons why the check for durable writes fails.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The newest probe write failed.
    #[error("the database stores no writes ({last_commit}): {failure}")]
    Failing {
        /// The age of the last durable commit.
        last_commit: LastCommit,
        /// Error of the probe write.
        failure: String,
    },
    /// A commit or a probe write has got no response from the database so far.
    #[error("the database does not respond to a write ({last_commit})")]
    Silent {
        /// The age of the last durable commit.
        last_commit: LastCommit,
    },
}

/// The age of the last durable commit; `None` if the process has made no durable commit since its start.
#[derive(Debug, Clone, Copy)]
pub struct LastCommit(Option<Duration>);

impl LastCommit {
    /// Returns the age of the last durable commit; `None` if the process has made no durable commit since its start.
    pub fn age(self) -> Option<Duration> {
        self.0
    }
}

impl fmt::Display for LastCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(age) => write!(f, "last commit {} s ago", age.as_secs()),
            None => f.write_str("no commit since the start"),
        }
    }
}

impl WriteGate {
    /// Records a durable commit. From now on, durable writes are accepted.
    pub(crate) fn committed(&self) {
        let mut state = self.state.lock();
        state.last_commit = Some(Instant::now());
        state.is_closed = false;
    }

    /// Refuses durable writes from now on, after a commit without a response.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        // A probe that succeeded before this commit proves nothing about the database now.
        state.last_probe = None;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Returns the age of the last durable commit.
    pub(crate) fn last_commit(&self) -> LastCommit {
        self.state.lock().last_commit()
    }

    /// Begins a probe write and returns true, unless a probe write is running or ended less than a second ago. If the
    /// result is true, the caller must run the probe write.
    pub(crate) fn begin_probe(&self) -> bool {
        let mut state = self.state.lock();
        let rests = state.last_probe.as_ref().is_some_and(|probe| probe.at.elapsed() < PROBE_PAUSE);
        if state.probe.is_some() || rests {
            return false;
        }
        state.probe = Some(Instant::now());
        true
    }

    /// Records the end of a probe write; `failure` is `None` after success. Does not change whether durable writes are
    /// accepted: the commit of a successful probe write has done so already. Logs the first of several failures in a
    /// row, and the first success after a failure.
    pub(crate) fn end_probe(&self, failure: Option<String>) {
        let mut state = self.state.lock();
        match &failure {
            Some(failure) if !state.is_failing => {
                tracing::error!(error = failure, "a probe write to the database failed");
            }
            None if state.is_failing => tracing::info!("a probe write to the database succeeded"),
            _ => {}
        }
        state.is_failing = failure.is_some();
        state.probe = None;
        state.last_probe = Some(EndedProbe { at: Instant::now(), failure });
        drop(state);
        self.probe_ended.notify_all();
    }

    /// Whether durable writes are accepted and the last durable commit is less than five seconds old.
    pub(crate) fn has_recent_commit(&self) -> bool {
        let state = self.state.lock();
        let is_recent = state.last_commit.is_some_and(|at| at.elapsed() < RECENT);
        is_recent && !state.is_closed
    }

    /// Waits for a running probe write for at most `timeout`. Returns an error if the newest probe write failed or has
    /// no result yet, or if durable writes are refused.
    pub(crate) fn probe_result(&self, timeout: Duration) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        self.probe_ended.wait_while_for(&mut state, |state| state.probe.is_some(), timeout);
        let last_commit = state.last_commit();
        let failure = state.last_probe.as_ref().and_then(|probe| probe.failure.clone());
        match failure {
            Some(failure) => Err(WriteError::Failing { last_commit, failure }),
            None if state.probe.is_some() || state.is_closed => {
                Err(WriteError::Silent { last_commit })
            }
            None => Ok(()),
        }
    }
}

impl GateState {
    fn last_commit(&self) -> LastCommit {
        LastCommit(self.last_commit.map(|at| at.elapsed()))
    }
}

/// Minimum pause between the end of a probe write and the next probe write.
const PROBE_PAUSE: Duration = Duration::from_secs(1);

/// Maximum age of a commit that proves that the database stores writes.
const RECENT: Duration = Duration::from_secs(5);
