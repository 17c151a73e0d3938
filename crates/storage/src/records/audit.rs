//! Stores the audit trail of operators' actions. Database triggers keep the table append-only and without gaps.

use diesel::prelude::*;
use sealpost_domain::{AdminAction, AuditEntry, AuditHash, Timestamp, ports::StoreError};

use crate::{
    connection::{
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::row_lock::advisory_lock,
    rows::columns,
    schema::audit_entries as a,
};

impl Transaction {
    /// Reads the newest entry of the audit trail. `None` if the trail is empty. Concurrent calls wait until this
    /// transaction ends.
    pub fn lock_audit_head(&mut self) -> Result<Option<AuditEntry>, StoreError> {
        let newest = a::table.order(a::number.desc());
        self.run(|conn| advisory_lock(conn, LOCK))?;
        self.first(newest, AuditRow::read)
    }

    /// Appends an entry. Its number must be one higher than the number of the newest entry.
    pub fn append_audit(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        let row = AuditRow::new(entry)?;
        self.execute(diesel::insert_into(a::table).values(row)).map(drop)
    }
}

impl Reader {
    /// Reads up to `limit` entries with numbers above `after`, in ascending order.
    pub fn audit_entries(&mut self, after: u64, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let page = a::table.filter(a::number.gt(after)).order(a::number).limit(limit.into());
        self.load(page, AuditRow::read)
    }

    /// Reads the newest entries, at most `limit`, in ascending order of their numbers.
    pub fn newest_audit_entries(&mut self, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let newest = a::table.order(a::number.desc()).limit(limit.into());
        let mut entries = self.load(newest, AuditRow::read)?;
        entries.reverse();
        Ok(entries)
    }
}

/// A row of the table `audit_entries`.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = a)]
struct AuditRow {
    number: i64,
    at: i64,
    actor: String,
    action: String,
    subject: String,
    detail: String,
    previous: Vec<u8>,
    hash: Vec<u8>,
}

impl AuditRow {
    fn new(entry: &AuditEntry) -> Result<Self, QueryError> {
        let act = entry.admin_action.clone();
        Ok(Self {
            number: columns::number(entry.number, "audit entry")?,
            at: entry.at.as_millis(),
            actor: act.actor,
            action: act.action,
            subject: act.subject,
            detail: act.detail,
            previous: entry.previous.0.to_vec(),
            hash: entry.hash.0.to_vec(),
        })
    }

    fn read(self) -> Result<AuditEntry, QueryError> {
        Ok(AuditEntry {
            number: columns::number(self.number, "audit entry")?,
            at: Timestamp::from_millis(self.at),
            admin_action: AdminAction {
                actor: self.actor,
                action: self.action,
                subject: self.subject,
                detail: self.detail,
            },
            previous: AuditHash(columns::bytes(self.previous, "audit entry")?),
            hash: AuditHash(columns::bytes(self.hash, "audit entry")?),
        })
    }
}

/// Number of the advisory lock for appending to the audit trail: `audit` in ASCII. A table lock would need the right to
/// update or delete rows, which the role may lack.
const LOCK: i64 = 0x61_7564_6974;
