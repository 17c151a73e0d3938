//! Closes accounts and erases personal data, in several transactions of limited size (portions).
//!
//! While an account is being closed, its column `closing` contains the extent (`close` or `erase`). An interrupted
//! closing can therefore continue with the rows that are left.

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    AccountId, ApiKeyId, KeyStatus, Timestamp,
    ports::{ClosedPortion, Closing, ClosingExtent, DeletedRows, JournaledAct, StoreError},
};

use super::activity;
use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Transaction},
    housekeeping::deleted_webhooks,
    query::{
        row_lock::{Locked, RowLock},
        statement::Statement,
    },
    records::handles,
    rows::columns,
    schema::{accounts as a, api_keys as k, handles as h},
};

impl Transaction {
    /// Begins to close an account: invalidates its login secret, so that later logins and activations are refused. Then
    /// [`close_portion`](crate::Transaction::close_portion) deletes the rows of the account in several calls.
    ///
    /// A second call continues an interrupted closing. It can change the extent from [`ClosingExtent::Close`] to
    /// [`ClosingExtent::Erase`], but not back. The times of the first closing and of the first erasure do not change.
    ///
    /// Returns the stored state of the closing, or `None` if the account does not exist.
    pub fn begin_closing(
        &mut self,
        account: &AccountId,
        extent: ClosingExtent,
        now: Timestamp,
    ) -> Result<Option<Closing>, StoreError> {
        let closing = self.run(|conn| begin(conn, &account.to_string(), extent, now))?;
        if let Some(closing) = closing {
            self.journaled_acts.add(match closing.extent {
                ClosingExtent::Close => JournaledAct::AccountClosed(*account),
                ClosingExtent::Erase => JournaledAct::AccountErased(*account),
            });
        }
        Ok(closing)
    }

    /// Performs the next step of a closing: deletes at most about `limit` rows, or revokes one key. Returns the numbers
    /// of changed rows, and whether the closing is complete.
    ///
    /// Run each call in a separate transaction. A call locks at most one API key. Several calls would lock several keys
    /// in no fixed order, and could deadlock.
    pub fn close_portion(
        &mut self,
        account: &AccountId,
        now: Timestamp,
        limit: u32,
    ) -> Result<ClosedPortion, StoreError> {
        let id = account.to_string();
        let Some(extent) = self.extent_of(&id)? else {
            return Ok(ClosedPortion { rows: DeletedRows::default(), is_complete: true });
        };
        let sessions = self.end_sessions(Some(account), limit)?;
        if sessions > 0 {
            return Ok(portion(DeletedRows { sessions, ..DeletedRows::default() }));
        }
        let api_tokens = self.delete_api_tokens_of(account)?;
        if api_tokens > 0 {
            return Ok(portion(DeletedRows { api_tokens, ..DeletedRows::default() }));
        }
        // Erases the handles before the keys are revoked, so that no event about a revocation contains a handle.
        if extent == ClosingExtent::Erase
            && let Some((handle, key)) = self.next_handle(&id)?
        {
            self.lock_key(&key)?;
            self.run(|conn| erase_handle(conn, &handle, &key))?;
            return Ok(portion(DeletedRows { handles: 1, ..DeletedRows::default() }));
        }
        if let Some(key) = self.next_live_key(&id)? {
            return self.revoke_next(&key, now);
        }
        if extent == ClosingExtent::Erase
            && let Some(erased) = self.run(|conn| erase_rows(conn, &id, now, limit))?
        {
            return Ok(portion(erased));
        }
        let is_complete = self.run(|conn| finish(conn, &id, extent, now))?;
        Ok(ClosedPortion { rows: DeletedRows::default(), is_complete })
    }

    /// Finds a closed account with rows left to delete. `None` if there is no such account.
    pub fn find_closing(&mut self) -> Result<Option<AccountId>, StoreError> {
        let next = a::table.filter(a::closing.is_not_null()).order(a::id).select(a::id);
        self.first(next, |id: String| columns::id(&id, "account"))
    }

    fn extent_of(&mut self, account: &str) -> Result<Option<ClosingExtent>, StoreError> {
        let known = |name: String| {
            ClosingExtent::from_name(&name).ok_or(QueryError::Corrupt("extent of a closing"))
        };
        let extent = a::table.find(account).select(a::closing);
        Ok(self.first(extent, |name: Option<String>| name.map(known).transpose())?.flatten())
    }

    fn next_handle(&mut self, account: &str) -> Result<Option<(String, ApiKeyId)>, StoreError> {
        let of_account = h::table.filter(h::account_id.eq(account)).order(h::handle);
        self.first(of_account.select((h::handle, h::api_key_id)), |(handle, key): (_, String)| {
            Ok((handle, columns::id(&key, "handle")?))
        })
    }

    fn next_live_key(&mut self, account: &str) -> Result<Option<ApiKeyId>, StoreError> {
        let live = k::table
            .filter(k::account_id.eq(account))
            .filter(k::status.ne(KeyStatus::Revoked.as_str()))
            .order(k::id)
            .select(k::id);
        self.first(live, |id: String| columns::id(&id, "key"))
    }

    fn revoke_next(&mut self, key: &ApiKeyId, now: Timestamp) -> Result<ClosedPortion, StoreError> {
        let locked = self.lock_key(key)?;
        if locked.is_none_or(|key| key.status == KeyStatus::Revoked) {
            return Ok(portion(DeletedRows::default()));
        }
        let revoked = self.revoke_key(key, now)?;
        Ok(portion(DeletedRows {
            keys_revoked: 1,
            webhooks: revoked.webhooks,
            deliveries: revoked.deliveries,
            ..DeletedRows::default()
        }))
    }
}

fn portion(rows: DeletedRows) -> ClosedPortion {
    ClosedPortion { rows, is_complete: false }
}

/// Marks an account as closed, and prevents logins: replaces the hash of the login secret by zeros, which match no
/// secret, and removes the recovery code. Returns `None` if the account does not exist.
fn begin(
    conn: &mut AnyConnection,
    account: &str,
    extent: ClosingExtent,
    now: Timestamp,
) -> Result<Option<Closing>, QueryError> {
    type Row = (Option<i64>, Option<String>, Option<i64>, Option<String>);
    let columns = (a::closed_at, a::closing, a::erased_at, a::partner_id);
    let locked = Locked::new(a::table.find(account).select(columns), RowLock::Alone);
    let found = on_backend!(conn, c => locked.get_result::<Row>(c).optional())?;
    let Some((closed_at, closing, erased_at, partner_id)) = found else { return Ok(None) };
    let is_erasing = extent == ClosingExtent::Erase
        || closing.as_deref() == Some(ClosingExtent::Erase.as_str())
        || erased_at.is_some();
    let extent = if is_erasing { ClosingExtent::Erase } else { ClosingExtent::Close };
    let closed_at = closed_at.unwrap_or(now.as_millis());
    diesel::update(a::table.find(account))
        .set((
            a::login_secret.eq(vec![0_u8; 32]),
            a::recovery_code.eq(None::<Vec<u8>>),
            a::closed_at.eq(closed_at),
            a::partner_id.eq(partner_id.filter(|_| !is_erasing)),
            a::closing.eq(extent.as_str()),
            a::tag.eq(None::<Vec<u8>>),
        ))
        .execute(conn)?;
    Ok(Some(Closing { closed_at: Timestamp::from_millis(closed_at), extent }))
}

fn erase_handle(conn: &mut AnyConnection, handle: &str, key: &ApiKeyId) -> Result<(), QueryError> {
    handles::insert_erased(conn, handle)?;
    diesel::delete(h::table.find(handle)).execute(conn)?;
    let key = k::table.find(key.to_string());
    diesel::update(key).set(k::handle.eq(None::<String>)).execute(conn)?;
    Ok(())
}

/// Deletes the next portion of rows with personal data of an account's owner. All API keys of the account must be
/// revoked. Returns `None` if no such row is left.
fn erase_rows(
    conn: &mut AnyConnection,
    account: &str,
    now: Timestamp,
    limit: u32,
) -> Result<Option<DeletedRows>, QueryError> {
    // The logged attempts of deleted webhooks contain responses of receivers. The database does not store the owner of
    // a deleted webhook. Therefore the next statement deletes the attempts of deleted webhooks of all accounts.
    if deleted_webhooks::purge(conn, now, limit.into())? > 0 {
        return Ok(Some(DeletedRows::default()));
    }
    if let Some(key) = next_unerased_key(conn, account)? {
        return erase_key(conn, &key, limit).map(Some);
    }
    let activity = activity::delete_of(conn, account, limit)?;
    Ok((activity > 0).then(|| DeletedRows { activity, ..DeletedRows::default() }))
}

/// Finds an API key of the account that still has its label, its handle, or other rows that [`erase_key`] deletes. The
/// label and the handle are erased last. Even after that, a key can have such rows, if another transaction stored them
/// late.
fn next_unerased_key(
    conn: &mut AnyConnection,
    account: &str,
) -> Result<Option<String>, QueryError> {
    let key = on_backend!(conn, c => {
        Statement::<_, Text>::query(NEXT_UNERASED_KEY)
            .bind::<Text, _>(account)
            .bind::<Text, _>(ERASED_LABEL)
            .get_result::<String>(c)
            .optional()
    })?;
    Ok(key)
}

fn erase_key(conn: &mut AnyConnection, key: &str, limit: u32) -> Result<DeletedRows, QueryError> {
    let idempotency_keys = delete_some(conn, "idempotency_keys", "idempotency_key", key, limit)?;
    let daily_counts = delete_some(conn, "daily_counts", "day", key, limit)?;
    let contacts = delete_some(conn, "contacts", "contact", key, limit)?;
    // Also deletes statements that are not in the log yet, such as the revocation of the key. An entry of the log
    // contains only a hash, so without its statement an entry proves nothing about the erased account.
    let log_statements = delete_some(conn, "log_statements", "id", key, limit)?;
    let mut rows = DeletedRows {
        idempotency_keys,
        daily_counts,
        contacts,
        log_statements,
        ..DeletedRows::default()
    };
    if idempotency_keys.max(daily_counts).max(contacts).max(log_statements) < u64::from(limit) {
        // Keeps the other columns of the policy, because these columns still decide which states of their envelopes
        // (receipts) the senders see.
        sql_query(EMPTY_LISTS).bind::<Text, _>(key).execute(conn)?;
        let named = k::label.ne(ERASED_LABEL).or(k::handle.is_not_null());
        let erased = diesel::update(k::table.find(key).filter(named))
            .set((k::label.eq(ERASED_LABEL), k::handle.eq(None::<String>)))
            .execute(conn)?;
        rows.labels = columns::number(erased, "number of labels")?;
    }
    Ok(rows)
}

/// Deletes up to `limit` rows of an API key from a table. `column` identifies a row among the rows of the key.
fn delete_some(
    conn: &mut AnyConnection,
    table: &str,
    column: &str,
    key: &str,
    limit: u32,
) -> Result<u64, QueryError> {
    let text = format!(
        "/* closing.delete_{table} */ DELETE FROM {table} WHERE api_key_id = $1 AND {column} IN (
             SELECT {column} FROM {table} WHERE api_key_id = $1 LIMIT $2
         )"
    );
    let delete = sql_query(text).bind::<Text, _>(key).bind::<BigInt, _>(i64::from(limit));
    columns::number(delete.execute(conn)?, "number of rows")
}

/// Marks the closing of an account as complete. Returns `false` if its extent (close or erase) is no longer `extent`,
/// because another transaction has changed the extent.
fn finish(
    conn: &mut AnyConnection,
    account: &str,
    extent: ClosingExtent,
    now: Timestamp,
) -> Result<bool, QueryError> {
    if extent == ClosingExtent::Erase {
        let first = a::table.find(account).filter(a::erased_at.is_null());
        diesel::update(first).set(a::erased_at.eq(now.as_millis())).execute(conn)?;
    }
    let of_extent = a::table.find(account).filter(a::closing.eq(extent.as_str()));
    Ok(diesel::update(of_extent).set(a::closing.eq(None::<String>)).execute(conn)? == 1)
}

/// The label that erasure gives to all API keys of an account.
const ERASED_LABEL: &str = "erased";

/// Selects the next API key of an account with data left to erase. Searches tables with many rows for a key in the
/// order of their primary key. Without this order, PostgreSQL would expect to find a row soon, and would read the whole
/// table for a key without rows.
const NEXT_UNERASED_KEY: &str = "/* closing.next_unerased_key */
    SELECT k.id FROM api_keys AS k
    WHERE k.account_id = ? AND (
        k.label <> ? OR k.handle IS NOT NULL
        OR (SELECT i.idempotency_key FROM idempotency_keys AS i WHERE i.api_key_id = k.id
            ORDER BY i.idempotency_key LIMIT 1) IS NOT NULL
        OR (SELECT d.day FROM daily_counts AS d WHERE d.api_key_id = k.id
            ORDER BY d.day LIMIT 1) IS NOT NULL
        OR (SELECT c.contact FROM contacts AS c WHERE c.api_key_id = k.id
            ORDER BY c.contact LIMIT 1) IS NOT NULL
        OR EXISTS (SELECT 1 FROM log_statements AS s WHERE s.api_key_id = k.id)
    )
    ORDER BY k.id LIMIT 1";

const EMPTY_LISTS: &str = "/* closing.empty_lists */ UPDATE policies SET allowed = '', blocked = '' WHERE api_key_id = $1";
