//! Checks that the database stores writes: a recent commit or a probe write must have succeeded. The readiness check
//! uses the result. A successful probe write also ends the refusal of durable writes after a commit without a response.

use std::time::Duration;

use sealpost_domain::{
    ports::{Durability, StoreError},
    with_causes,
};

use crate::{
    connection::{
        write_gate::{LastCommit, WriteError},
        write_probe,
    },
    database::Database,
};

impl Database {
    /// Checks that the database stores writes. A durable commit in the last five seconds is sufficient. Otherwise
    /// starts a probe write, and waits for its result for at most two seconds.
    pub fn check_writes(&self) -> Result<(), WriteError> {
        let gate = &self.durable_commits.gate;
        if gate.has_recent_commit() {
            return Ok(());
        }
        self.start_probe();
        gate.probe_result(PROBE_WAIT)
    }

    /// Returns the age of the last durable commit of this process.
    pub fn last_commit(&self) -> LastCommit {
        self.durable_commits.gate.last_commit()
    }

    /// Starts a probe write in the background, unless a probe is running or ended less than a second ago. If the probe
    /// succeeds, durable writes are accepted again.
    pub(crate) fn start_probe(&self) {
        if !self.durable_commits.gate.begin_probe() {
            return;
        }
        let database = self.clone();
        let probe = Box::new(move || {
            let failure = database.probe().err().map(|error| with_causes(&error));
            database.durable_commits.gate.end_probe(failure);
        });
        if let Err(error) = self.durable_commits.threads.submit(probe) {
            self.durable_commits.gate.end_probe(Some(error.to_string()));
        }
    }

    fn probe(&self) -> Result<(), StoreError> {
        let mut transaction = self.unchecked_transaction(Durability::Durable)?;
        transaction.run(write_probe::write)?;
        transaction.commit()
    }
}

/// Maximum wait for the result of a probe write. Shorter than the usual timeouts of readiness checks.
const PROBE_WAIT: Duration = Duration::from_secs(2);
