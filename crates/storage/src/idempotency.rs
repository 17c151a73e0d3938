//! What is remembered of idempotent sends. It is worth as much as its envelope: where that was purged, the name is
//! free again, as it is when what is remembered has had its time.

use std::collections::HashMap;

use diesel::result::Error;
use sealpost_domain::{
    ApiKeyId, Fingerprint, IdempotencyKey, Timestamp,
    ports::{IdempotencyRecord, NewIdempotencyRecord},
};

use crate::{
    batch::{self, RecalledRow, RememberedId, RememberedRow},
    columns,
    connection::AnyConnection,
    fault::Fault,
};

/// What came of earlier sends of these names.
pub(crate) fn recall(
    conn: &mut AnyConnection,
    names: &[(ApiKeyId, IdempotencyKey)],
) -> Result<HashMap<(ApiKeyId, IdempotencyKey), IdempotencyRecord>, Fault> {
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<_> = names.iter().map(|(caller, key)| id(caller, key)).collect();
    batch::recall(conn, &ids)?.into_iter().map(read).collect()
}

/// Remembers all of them, or is contended where somebody else has remembered one first.
pub(crate) fn remember(
    conn: &mut AnyConnection,
    sends: &[NewIdempotencyRecord],
) -> Result<(), Fault> {
    if sends.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = sends.iter().map(row).collect();
    let remembered = batch::remember(conn, &rows)?;
    if remembered == rows.len() {
        return Ok(());
    }
    // A statement of its own, so that it sees the envelope of whoever was waited for: only what is stale goes.
    batch::forget_stale(conn, &rows)?;
    if remembered + batch::remember(conn, &rows)? == rows.len() {
        return Ok(());
    }
    Err(Fault::Contended(Error::NotFound))
}

fn id<'a>(caller: &ApiKeyId, key: &'a IdempotencyKey) -> RememberedId<'a> {
    RememberedId { api_key_id: caller.to_string(), idempotency_key: key.as_str() }
}

fn row(send: &NewIdempotencyRecord) -> RememberedRow<'_> {
    RememberedRow {
        id: id(&send.caller, &send.key),
        fingerprint: &send.fingerprint.0,
        envelope_id: send.envelope_id.to_string(),
        created_at: send.at.as_millis(),
        expired_before: send.expired_before.as_millis(),
    }
}

fn read(
    (caller, key, fingerprint, at, meta): RecalledRow,
) -> Result<((ApiKeyId, IdempotencyKey), IdempotencyRecord), Fault> {
    let key = IdempotencyKey::parse(&key).ok().ok_or(Fault::Corrupt("idempotency key"))?;
    let fingerprint = Fingerprint(columns::bytes(fingerprint, "fingerprint")?);
    let remembered =
        IdempotencyRecord { at: Timestamp::from_millis(at), fingerprint, meta: meta.read()? };
    Ok(((columns::id(&caller, "remembered send")?, key), remembered))
}
