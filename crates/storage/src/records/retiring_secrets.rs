//! Replaces and deletes stored retiring secrets. A retiring secret is the former signing secret of a webhook, which
//! still signs until it expires.

use diesel::prelude::*;
use sealpost_domain::{Timestamp, WebhookId, Wrapped, ports::StoreError};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    query::row_lock::{Locked, RowLock},
    rows::{columns, retiring_secrets},
    schema::webhooks as w,
};

/// Replaces the encrypted form of one retiring secret. Returns false if `old` is no longer stored.
pub(crate) fn replace(
    conn: &mut AnyConnection,
    id: &WebhookId,
    old: &Wrapped,
    new: &Wrapped,
) -> Result<bool, Fault> {
    let webhook = w::table.find(id.to_string());
    let list = webhook.clone().select(w::retiring);
    let list = on_backend!(conn, c => {
        Locked::new(list, RowLock::Alone).get_result::<Option<Vec<u8>>>(c).optional()
    })?;
    let mut secrets = retiring_secrets::read(list.flatten().as_deref())?;
    let Some(same) = secrets.iter_mut().find(|secret| secret.secret == *old) else {
        return Ok(false);
    };
    same.secret = new.clone();
    let (list, _) = retiring_secrets::write(&secrets)?;
    diesel::update(webhook).set(w::retiring.eq(list)).execute(conn)?;
    Ok(true)
}

impl Transaction {
    /// Deletes the retiring secrets that have expired at `now`. Changes up to `limit` webhooks and returns their number.
    pub fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            let retired = w::table
                .filter(w::retiring_until.le(now.as_millis()))
                .order(w::id)
                .limit(limit.into())
                .select((w::id, w::retiring));
            let rows: Vec<(String, Option<Vec<u8>>)> =
                on_backend!(conn, c => Locked::new(retired, RowLock::Alone).load(c))?;
            for (id, list) in &rows {
                let mut secrets = retiring_secrets::read(list.as_deref())?;
                secrets.retain(|secret| secret.until > now);
                let (list, until) = retiring_secrets::write(&secrets)?;
                diesel::update(w::table.find(id))
                    .set((w::retiring.eq(list), w::retiring_until.eq(until)))
                    .execute(conn)?;
            }
            columns::number(rows.len(), "number of webhooks")
        })
    }
}
