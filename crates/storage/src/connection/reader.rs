//! Lookups outside a transaction. Each lookup takes a connection from the pool and returns it afterwards.

use sealpost_domain::ports::StoreError;

use crate::connection::{
    AnyConnection,
    fault::{Fault, unavailable},
    pool::Pool,
};

/// Runs lookups outside a transaction. Each lookup sees all rows that were committed before it.
pub(crate) struct Reader<'a> {
    pool: &'a Pool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(pool: &'a Pool) -> Self {
        Self { pool }
    }

    /// Runs one lookup. If the connection proves to be dead, repeats the lookup on another connection.
    pub(crate) fn run<T>(
        &mut self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut connection = self.pool.get().map_err(unavailable)?;
        match connection.run(&work) {
            Err(_) if connection.is_dead => {}
            done => return done.map_err(StoreError::from),
        }
        // The dead connection is returned first, so that the pool tests the next connection before it hands it out.
        drop(connection);
        self.pool.get().map_err(unavailable)?.run(&work).map_err(StoreError::from)
    }
}
