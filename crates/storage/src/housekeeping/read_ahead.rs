//! Reads expired envelopes of an SQLite database before they are deleted.
//!
//! The pages of expired envelopes are often only on the disk. While a deletion waits for the disk, all other writers
//! wait too. Reading the pages before the transaction brings them into the memory of the operating system.

use std::{panic::resume_unwind, thread};

use diesel::{dsl::max, prelude::*};
use sealpost_domain::{Timestamp, ports::StoreError};

use crate::{database::Database, housekeeping::partitions::first_id, schema::envelopes as e};

impl Database {
    /// Reads the oldest envelopes from before `before`, up to `limit`, so that they are in memory when
    /// [`Transaction::purge_envelopes`](crate::Transaction::purge_envelopes) deletes them. Does nothing on a database
    /// server, where other writes do not wait for a deletion.
    pub fn read_ahead(&self, before: Timestamp, limit: u32) -> Result<(), StoreError> {
        if !self.has_single_writer() {
            return Ok(());
        }
        let below = first_id(before);
        let ids = self.look_up(|conn| {
            let expired = e::table.filter(e::id.lt(&below)).order(e::id).limit(limit.into());
            Ok(expired.select(e::id).load::<String>(conn)?)
        })?;
        // Several threads read at the same time, because one thread would wait for the disk at each page.
        let portion = ids.len().div_ceil(THREADS).max(1);
        thread::scope(|scope| {
            let threads: Vec<_> =
                ids.chunks(portion).map(|ids| scope.spawn(|| read_rows(self, ids))).collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|panicked| resume_unwind(panicked))
            })
        })
    }
}

/// Reads a column that is in no index, so that SQLite reads the pages of the rows.
fn read_rows(database: &Database, ids: &[String]) -> Result<(), StoreError> {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(()) };
    database.look_up(|conn| {
        let rows = e::table.filter(e::id.between(first, last));
        Ok(rows.select(max(e::payload_size_bytes)).first::<Option<i64>>(conn)?)
    })?;
    Ok(())
}

const THREADS: usize = 4;
