//! Stores the activity log of accounts.

use std::{net::IpAddr, ops::Range};

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    AccountId, Activity, ActivityActor, ActivityId, ActivityKind, Timestamp, ports::StoreError,
};

use crate::{
    connection::{
        AnyConnection,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    rows::columns,
    schema::activity as a,
};

impl Transaction {
    /// Inserts an entry into the activity log of its account. Keeps the newest `kept_max` entries of this account and
    /// kind, and deletes older ones.
    pub fn insert_activity(&mut self, entry: &Activity, kept_max: u32) -> Result<(), StoreError> {
        self.run(|conn| {
            diesel::insert_into(a::table).values(ActivityRow::new(entry)).execute(conn)?;
            trim(conn, &entry.account_id, entry.kind, kept_max)
        })
    }
}

/// Deletes the entries of one kind in an account's activity log, except the newest `kept_max`.
fn trim(
    conn: &mut AnyConnection,
    account: &AccountId,
    kind: ActivityKind,
    kept_max: u32,
) -> Result<(), QueryError> {
    let account = account.to_string();
    let of_kind = a::table.filter(a::account_id.eq(&account)).filter(a::kind.eq(kind.as_str()));
    let first_too_many = of_kind
        .order(a::id.desc())
        .offset(kept_max.into())
        .limit(1)
        .select(a::id)
        .first::<String>(conn)
        .optional()?;
    if let Some(id) = first_too_many {
        diesel::delete(of_kind.filter(a::id.le(id))).execute(conn)?;
    }
    Ok(())
}

impl Reader {
    /// Counts the entries of this kind in the account's activity log that have a time in `period`. Stops counting at
    /// `limit`.
    pub fn count_activity(
        &mut self,
        account: &AccountId,
        kind: ActivityKind,
        period: &Range<Timestamp>,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| {
            let first_id = |at| ActivityId::new(at, [0; 10]).to_string();
            let entries = a::table
                .filter(a::account_id.eq(account.to_string()))
                .filter(a::kind.eq(kind.as_str()))
                .filter(a::id.ge(first_id(period.start)))
                .filter(a::id.lt(first_id(period.end)))
                .limit(limit.into())
                .select(a::id);
            columns::number(entries.load::<String>(conn)?.len(), "number of entries")
        })
    }

    /// Reads up to `limit` entries of the account's activity log, newest first. If `below` is given, reads only entries
    /// older than this entry.
    pub fn activity_of(
        &mut self,
        account: &AccountId,
        below: Option<&ActivityId>,
        limit: u32,
    ) -> Result<Vec<Activity>, StoreError> {
        let mut page = a::table
            .filter(a::account_id.eq(account.to_string()))
            .order(a::id.desc())
            .limit(limit.into())
            .into_boxed();
        if let Some(below) = below {
            page = page.filter(a::id.lt(below.to_string()));
        }
        self.load(page, ActivityRow::read)
    }
}

/// Deletes up to `limit` entries of an account's activity log. Returns the number of deleted entries.
pub(super) fn delete_of(
    conn: &mut AnyConnection,
    account: &str,
    limit: u32,
) -> Result<u64, QueryError> {
    let delete = sql_query(DELETE_OF).bind::<Text, _>(account).bind::<BigInt, _>(i64::from(limit));
    columns::number(delete.execute(conn)?, "number of entries")
}

/// A row of the table `activity`.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = a, treat_none_as_default_value = false)]
struct ActivityRow {
    id: String,
    account_id: String,
    at: i64,
    kind: String,
    actor: String,
    client_address: Option<String>,
    detail: Option<String>,
}

impl ActivityRow {
    fn new(entry: &Activity) -> Self {
        Self {
            id: entry.id.to_string(),
            account_id: entry.account_id.to_string(),
            at: entry.at.as_millis(),
            kind: entry.kind.as_str().to_owned(),
            actor: entry.actor.to_string(),
            client_address: entry.client_address.map(|address| address.to_string()),
            detail: entry.detail.clone(),
        }
    }

    fn read(self) -> Result<Activity, QueryError> {
        let address = self.client_address.map(|text| columns::id::<IpAddr>(&text, "address"));
        Ok(Activity {
            id: columns::id(&self.id, "activity")?,
            account_id: columns::id(&self.account_id, "activity")?,
            at: Timestamp::from_millis(self.at),
            kind: ActivityKind::from_name(&self.kind)
                .ok_or(QueryError::Corrupt("kind of activity"))?,
            actor: ActivityActor::stored(self.actor),
            client_address: address.transpose()?,
            detail: self.detail,
        })
    }
}

const DELETE_OF: &str = "/* activity.delete_of */
    DELETE FROM activity WHERE id IN (
        SELECT id FROM activity WHERE account_id = $1 ORDER BY id LIMIT $2
    )";
