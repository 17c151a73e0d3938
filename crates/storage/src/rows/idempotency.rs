//! Rows of idempotency records. A record links the `Idempotency-Key` of a send to the stored envelope.

use sealpost_domain::{
    ApiKeyId, Fingerprint, IdempotencyKey, Timestamp,
    ports::{IdempotencyRecord, NewIdempotencyRecord},
};

use crate::{
    connection::fault::Fault,
    query::row_types::stored_row,
    rows::{columns, envelope::MetaRow},
    schema::idempotency_keys,
};

/// The primary key of an idempotency record: the sending API key, and the text of the idempotency key.
#[derive(Debug)]
pub(crate) struct IdempotencyRowKey<'a> {
    pub(crate) api_key_id: String,
    pub(crate) idempotency_key: &'a str,
}

impl<'a> IdempotencyRowKey<'a> {
    pub(crate) fn of(caller: &ApiKeyId, key: &'a IdempotencyKey) -> Self {
        Self { api_key_id: caller.to_string(), idempotency_key: key.as_str() }
    }
}

stored_row! {
    /// A new row of the table `idempotency_keys`.
    pub(crate) struct IdempotencyRow<'a> in idempotency_keys {
        api_key_id: String,
        idempotency_key: &'a str,
        fingerprint: &'a [u8],
        envelope_id: String,
        created_at: i64,
    }
}

impl<'a> From<&'a NewIdempotencyRecord> for IdempotencyRow<'a> {
    fn from(record: &'a NewIdempotencyRecord) -> Self {
        Self {
            api_key_id: record.caller.to_string(),
            idempotency_key: record.key.as_str(),
            fingerprint: &record.fingerprint.0,
            envelope_id: record.envelope_id.to_string(),
            created_at: record.at.as_millis(),
        }
    }
}

/// An idempotency record with its envelope: API key of the sender, text of the idempotency key, fingerprint of the
/// request, time of the send in milliseconds, metadata of the envelope.
pub(crate) type IdempotentSendRow = (String, String, Vec<u8>, i64, MetaRow);

pub(crate) fn read(
    (caller, key, fingerprint, at, meta): IdempotentSendRow,
) -> Result<((ApiKeyId, IdempotencyKey), IdempotencyRecord), Fault> {
    let key = IdempotencyKey::parse(&key).ok().ok_or(Fault::Corrupt("idempotency key"))?;
    let fingerprint = Fingerprint(columns::bytes(fingerprint, "fingerprint")?);
    let record =
        IdempotencyRecord { at: Timestamp::from_millis(at), fingerprint, meta: meta.read()? };
    Ok(((columns::id(&caller, "idempotency key")?, key), record))
}
