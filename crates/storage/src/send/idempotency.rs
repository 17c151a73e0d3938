//! Finds and stores the results of sends by their idempotency keys.
//!
//! An idempotency key can be used again after it has expired or its envelope was deleted.

use std::collections::HashMap;

use diesel::result::Error;
use sealpost_domain::{
    ApiKeyId, IdempotencyKey,
    ports::{IdempotencyRecord, NewIdempotencyRecord},
};

use crate::{
    connection::{AnyConnection, query_error::QueryError},
    query::row_types::insert_missing,
    rows::idempotency::{self, IdempotencyRow},
    send::statements,
};

/// Finds the results of earlier sends with the same idempotency keys.
pub(crate) fn find(
    conn: &mut AnyConnection,
    keys: &[(ApiKeyId, IdempotencyKey)],
) -> Result<HashMap<(ApiKeyId, IdempotencyKey), IdempotencyRecord>, QueryError> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let found = statements::find_idempotent_sends(conn, keys)?;
    found.into_iter().map(idempotency::read).collect()
}

/// Stores idempotency records. Returns [`QueryError::Contended`] if another transaction stored one of the keys first.
pub(crate) fn insert(
    conn: &mut AnyConnection,
    sends: &[NewIdempotencyRecord],
) -> Result<(), QueryError> {
    if sends.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = sends.iter().map(IdempotencyRow::from).collect();
    let inserted = insert_missing(conn, &rows, IdempotencyRow::KEY)?;
    if inserted == rows.len() {
        return Ok(());
    }
    // A separate statement deletes stale records (expired, or without an envelope). Unlike the insert, the separate
    // statement sees the envelopes that were committed while the insert waited.
    let expiries: Vec<_> = sends.iter().map(|send| send.expired_before.as_millis()).collect();
    statements::delete_stale_idempotency_keys(conn, &rows, &expiries)?;
    if inserted + insert_missing(conn, &rows, IdempotencyRow::KEY)? == rows.len() {
        return Ok(());
    }
    Err(QueryError::Contended(Error::NotFound))
}
