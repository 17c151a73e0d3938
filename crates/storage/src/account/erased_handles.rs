//! Hashes of the handles of erased accounts.
//!
//! The hashes keep other accounts from taking these handles. A reader of the database can find a handle only by
//! guessing.

use diesel::prelude::*;
use sealpost_domain::{Handle, ports::StoreError};
use sha2::{Digest as _, Sha256};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    schema::erased_handles as e,
};

impl Transaction {
    /// Returns whether the handle belonged to an erased account. No other account may take such a
    /// handle.
    pub fn is_handle_erased(&mut self, handle: &Handle) -> Result<bool, StoreError> {
        self.run(|conn| {
            let found = e::table.find(hash(handle.as_str())).select(e::hash).first::<Vec<u8>>(conn);
            Ok(found.optional()?.is_some())
        })
    }
}

pub(super) fn insert(conn: &mut AnyConnection, handle: &str) -> Result<(), Fault> {
    let insert = diesel::insert_into(e::table).values(e::hash.eq(hash(handle)));
    on_backend!(conn, c => insert.on_conflict_do_nothing().execute(c))?;
    Ok(())
}

fn hash(handle: &str) -> Vec<u8> {
    Sha256::new().chain_update(PREFIX).chain_update(handle).finalize().to_vec()
}

const PREFIX: &[u8] = b"sealpost/v1/erased-handle/";
