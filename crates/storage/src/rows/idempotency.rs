//! Rows of idempotency records. A record links the `Idempotency-Key` of a request to its envelope or its results.

use sealpost_domain::{
    ApiKeyId, EnvelopeId, Fingerprint, IdempotencyKey, ReceiptState, Timestamp,
    ports::{IdempotencyRecord, IdempotencyResult, NewIdempotencyRecord},
};

use crate::{
    connection::query_error::QueryError,
    query::row_types::stored_row,
    rows::{columns, envelope::HashedMetaRow},
    schema::idempotency_keys,
};

stored_row! {
    /// A new row of the table `idempotency_keys`.
    pub(crate) struct IdempotencyRow<'a> in idempotency_keys {
        api_key_id: String,
        idempotency_key: &'a str,
        fingerprint: &'a [u8],
        envelope_id: String,
        created_at: i64,
        state: Option<&'static str>,
        results: Option<&'a str>,
    }
}

impl IdempotencyRow<'_> {
    /// The columns of the primary key.
    pub(crate) const KEY: &'static str = "api_key_id, idempotency_key";
}

impl<'a> From<&'a NewIdempotencyRecord> for IdempotencyRow<'a> {
    fn from(record: &'a NewIdempotencyRecord) -> Self {
        let (envelope_id, state, results) = match &record.result {
            IdempotencyResult::Batch(results) => (String::new(), None, Some(&**results)),
            IdempotencyResult::Send { envelope, state } => {
                (EnvelopeId::to_string(envelope), Some(state.as_str()), None)
            }
        };
        Self {
            api_key_id: record.caller.to_string(),
            idempotency_key: record.key.as_str(),
            fingerprint: &record.fingerprint.0,
            envelope_id,
            created_at: record.at.as_millis(),
            state,
            results,
        }
    }
}

/// An idempotency record with its result: API key of the sender, text of the idempotency key, fingerprint of the
/// request, time of the request in milliseconds, state in the response, results of a batch, metadata and hash of the
/// envelope of a single send.
pub(crate) type IdempotentSendRow =
    (String, String, Vec<u8>, i64, Option<String>, Option<String>, Option<HashedMetaRow>);

pub(crate) fn read(
    (caller, key, fingerprint, at, state, results, meta): IdempotentSendRow,
) -> Result<((ApiKeyId, IdempotencyKey), IdempotencyRecord), QueryError> {
    let key = IdempotencyKey::parse(&key).ok().ok_or(QueryError::Corrupt("idempotency key"))?;
    let fingerprint = Fingerprint(columns::bytes(fingerprint, "fingerprint")?);
    let result = match (results, meta) {
        (Some(results), _) => IdempotencyResult::Batch(results.into()),
        (None, Some((meta, hash))) => {
            let state = state.as_deref().and_then(ReceiptState::from_name);
            let state = state.ok_or(QueryError::Corrupt("state of a send"))?;
            IdempotencyResult::Send { envelope: meta.read(hash)?, state }
        }
        (None, None) => return Err(QueryError::Corrupt("idempotency key")),
    };
    let record = IdempotencyRecord { at: Timestamp::from_millis(at), fingerprint, result };
    Ok(((columns::id(&caller, "idempotency key")?, key), record))
}
