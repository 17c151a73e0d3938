//! Stores the issuer keys, with which the service signs in its own name.

use diesel::prelude::*;
use sealpost_domain::{IssuerKey, Timestamp, Wrapped, ports::StoreError};

use crate::{
    connection::{
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::row_lock::advisory_lock,
    rows::columns,
    schema::issuer_keys as i,
};

impl Transaction {
    /// Lists all issuer keys, ordered by the time at which they begin to sign. Concurrent calls wait until this
    /// transaction ends, so that only one transaction at a time adds a key.
    pub fn lock_issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError> {
        self.run(|conn| advisory_lock(conn, LOCK))?;
        self.issuer_keys()
    }

    /// Inserts an issuer key.
    pub fn insert_issuer_key(&mut self, key: &IssuerKey) -> Result<(), StoreError> {
        let row = IssuerRow {
            id: key.id.to_string(),
            public_key: key.public_key.to_vec(),
            secret: key.secret.0.clone(),
            created_at: key.created_at.as_millis(),
            signs_from: key.signs_from.as_millis(),
        };
        self.execute(diesel::insert_into(i::table).values(row)).map(drop)
    }
}

impl Reader {
    /// Lists all issuer keys, ordered by the time at which they begin to sign.
    pub fn issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError> {
        self.load(i::table.order((i::signs_from, i::id)), IssuerRow::read)
    }
}

/// A row of the table `issuer_keys`.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = i)]
struct IssuerRow {
    id: String,
    public_key: Vec<u8>,
    secret: Vec<u8>,
    created_at: i64,
    signs_from: i64,
}

impl IssuerRow {
    fn read(self) -> Result<IssuerKey, QueryError> {
        Ok(IssuerKey {
            id: columns::id(&self.id, "issuer key")?,
            public_key: columns::bytes(self.public_key, "issuer key")?,
            secret: Wrapped(self.secret),
            created_at: Timestamp::from_millis(self.created_at),
            signs_from: Timestamp::from_millis(self.signs_from),
        })
    }
}

/// Number of the advisory lock for adding an issuer key: `issuer` in ASCII. A row lock is not sufficient, because there
/// may be no row yet.
const LOCK: i64 = 0x6973_7375_6572;
