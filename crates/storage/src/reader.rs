//! Look-ups outside a transaction. They hold no connection between two of them.

use sealpost_domain::ports::StoreError;

use crate::{
    connection::AnyConnection,
    fault::{Fault, unavailable},
    pool::Pool,
};

/// Reads what was committed, statement by statement.
pub(crate) struct Reader<'a> {
    pool: &'a Pool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(pool: &'a Pool) -> Self {
        Self { pool }
    }

    /// Runs one look-up, and once more on another connection where the first turns out to be dead.
    pub(crate) fn run<T>(
        &mut self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut link = self.pool.get().map_err(unavailable)?;
        match link.run(&work) {
            Err(_) if link.dead => {}
            done => return done.map_err(StoreError::from),
        }
        // Back in the pool, where it raises the alarm, before another is asked for.
        drop(link);
        self.pool.get().map_err(unavailable)?.run(&work).map_err(StoreError::from)
    }
}
