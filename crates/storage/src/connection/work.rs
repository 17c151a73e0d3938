//! Runs reads outside a transaction, and runs transactions, which are repeated after a conflict.

use std::{sync::Arc, time::Instant};

use metrics::{counter, histogram};
use sealpost_domain::{
    Refusal,
    ports::{Durability, StoreError},
};

use crate::{
    connection::{
        AnyConnection,
        access_hook::{Access, AccessHook},
        pool::{POOL_TIMEOUTS, POOL_WAIT},
        query_error::{QueryError, unavailable},
        transaction::{Reader, Transaction},
    },
    database::Database,
};

impl Database {
    /// Runs reads outside a transaction. If the connection turns out to be dead, runs `work` once more on another
    /// connection.
    ///
    /// `work` must not call a method of the database that takes another connection. Otherwise callers that together
    /// hold all connections could wait for each other until the timeout.
    pub fn read<T, E: From<StoreError>>(
        &self,
        mut work: impl FnMut(&mut Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        self.before(Access::Read)?;
        let mut reader = Reader::open(&self.readers, &self.row_tags)?;
        match work(&mut reader) {
            Err(_) if reader.connection.is_dead => {}
            done => return done,
        }
        // The dead connection is returned first, so that the pool tests the next connection at checkout.
        drop(reader);
        work(&mut Reader::open(&self.readers, &self.row_tags)?)
    }

    /// Runs one lookup outside a transaction, like [`read`](Self::read).
    pub(crate) fn look_up<T>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, QueryError>,
    ) -> Result<T, StoreError> {
        self.read(|reader| reader.run(&work))
    }

    /// Runs `work` in one transaction, and commits if it returns `Ok`. Repeats the work if a concurrent transaction
    /// conflicts, up to three attempts in total.
    pub fn write<T>(
        &self,
        durability: Durability,
        work: impl FnMut(&mut Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        Self::write_in(|| self.begin(durability), work)
    }

    /// Runs `work` in one transaction like [`write`](Self::write). If `work` refuses the request, rolls the transaction
    /// back, and returns the refusal.
    pub fn write_or_refuse<T, R>(
        &self,
        durability: Durability,
        mut work: impl FnMut(&mut Transaction) -> Result<T, Abort<R>>,
    ) -> Result<T, Abort<R>> {
        let done = repeat_contended(|| {
            let mut tx = self.begin(durability)?;
            match work(&mut tx) {
                Ok(value) => {
                    tx.commit()?;
                    Ok(Ok(value))
                }
                Err(Abort::Refused(refusal)) => Ok(Err(refusal)),
                Err(Abort::Store(error)) => Err(error),
            }
        });
        done?.map_err(Abort::Refused)
    }

    pub(crate) fn write_in<T>(
        begin: impl Fn() -> Result<Transaction, StoreError>,
        mut work: impl FnMut(&mut Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        repeat_contended(|| {
            let mut tx = begin()?;
            let value = work(&mut tx)?;
            tx.commit()?;
            Ok(value)
        })
    }

    /// Runs statements in one transaction like [`write`](Self::write).
    pub(crate) fn transact<T>(
        &self,
        durability: Durability,
        work: impl Fn(&mut AnyConnection) -> Result<T, QueryError>,
    ) -> Result<T, StoreError> {
        self.write(durability, |tx| tx.run(&work))
    }

    /// Begins a transaction. Prefer [`write`](Self::write), which also commits and retries.
    ///
    /// After a durable commit without a response, refuses durable transactions with [`StoreError::Unavailable`], and
    /// starts probe writes, until a durable commit succeeds.
    pub fn begin(&self, durability: Durability) -> Result<Transaction, StoreError> {
        self.before(Access::Write(durability))?;
        if durability == Durability::Durable {
            self.durable_commits.admit().inspect_err(|_refused| self.start_probe())?;
        }
        self.unchecked_transaction(durability)
    }

    pub(crate) fn unchecked_transaction(
        &self,
        durability: Durability,
    ) -> Result<Transaction, StoreError> {
        let guard = match &self.write_lock {
            None => None,
            Some(lock) => {
                let began = Instant::now();
                let guard = lock.try_lock_arc_for(self.settings.connection_timeout);
                histogram!(POOL_WAIT, "pool" => "turn").record(began.elapsed());
                if guard.is_none() {
                    counter!(POOL_TIMEOUTS, "pool" => "turn").increment(1);
                }
                Some(guard.ok_or_else(|| unavailable(WRITE_LOCK_TIMEOUT))?)
            }
        };
        if let (Some(opened), Some(path)) = (&self.opened_files, &self.file) {
            opened.require_unchanged(path)?;
        }
        Transaction::begin(self, guard, durability)
    }

    /// Calls `hook` before each transaction and before each [`read`](Self::read). Tests use the hook to inject errors
    /// and to control the order of concurrent work.
    #[must_use]
    pub fn with_hook(
        mut self,
        hook: impl Fn(Access) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        self.hook = AccessHook(Some(Arc::new(hook)));
        self
    }

    fn before(&self, access: Access) -> Result<(), StoreError> {
        self.hook.0.as_ref().map_or(Ok(()), |hook| hook(access))
    }
}

/// Repeats a transaction that conflicts with a concurrent one, up to three attempts in total.
fn repeat_contended<T>(
    mut attempt: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    for _ in 1..TRIES_MAX {
        match attempt() {
            Err(StoreError::Contended(_)) => {}
            done => return done,
        }
    }
    attempt()
}

/// The reason that ends the work of a transaction early. The transaction is rolled back.
#[derive(Debug)]
pub enum Abort<R = Refusal> {
    /// The request is refused.
    Refused(R),
    /// The database failed.
    Store(StoreError),
}

impl<R> From<StoreError> for Abort<R> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Refusal> for Abort {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

const WRITE_LOCK_TIMEOUT: &str = "timed out waiting for other writers; try again";

/// Maximum number of attempts at a transaction that conflicts with others.
const TRIES_MAX: u32 = 3;
