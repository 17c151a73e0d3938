//! Stores the transparency log: an append-only log, protected by a hash tree against unnoticed changes.
//!
//! A statement of the log is a text about an object, such as a key. It is no SQL statement. Database triggers add the
//! statements. The log entry of a statement is a hash of the statement and random bytes. The entries are the leaves of
//! the tree. A tile contains up to 256 hashes of one level of the tree. The head is the signed state of the tree.

use std::time::Duration;

use diesel::{
    prelude::*,
    sql_types::{BigInt, Binary, Text},
    upsert::excluded,
};
use sealpost_domain::{
    Timestamp,
    ports::{
        EnvelopeList, LogHead, LoggedStatement, NewLogEntry, PendingStatement, StatementKind,
        StoreError, StoredTile,
    },
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        transaction::{Reader, Transaction},
    },
    query::{row_lock::advisory_lock, statement::Statement},
    rows::columns,
    schema::{log_entries as e, log_heads as h, log_statements as s, log_tiles as t},
};

impl Transaction {
    /// Reads the state of the transparency log; `None` if there is no log yet. Concurrent calls wait until this
    /// transaction ends, so that only one node at a time appends.
    pub fn lock_log(&mut self) -> Result<Option<LogHead>, StoreError> {
        self.run(|conn| advisory_lock(conn, LOCK))?;
        self.log_head()
    }

    /// Appends entries to the transparency log at the time `at`. `tiles` are the changed tiles of the tree, and `head`
    /// is its new state. The log must be [locked](Self::lock_log). If an erasure has deleted a statement since the
    /// caller read it, appends its entry without the statement.
    pub fn append_to_log(
        &mut self,
        entries: &[NewLogEntry],
        at: Timestamp,
        tiles: &[StoredTile],
        head: &LogHead,
    ) -> Result<(), StoreError> {
        self.run(|conn| {
            for NewLogEntry { statement, number, salt, entry, list } in entries {
                let number: i64 = columns::number(*number, ENTRY)?;
                let row = (e::number.eq(number), e::entry.eq(entry));
                diesel::insert_into(e::table).values(row).execute(conn)?;
                let Some(statement) = statement else { continue };
                let logged =
                    (s::number.eq(number), s::at.eq(at.as_millis()), s::salt.eq(salt.as_slice()));
                diesel::update(s::table.find(statement)).set(logged).execute(conn)?;
                if let Some(EnvelopeList { text, leaves, replaced }) = list {
                    let content = (s::text.eq(text), s::leaves.eq(leaves));
                    diesel::update(s::table.find(statement)).set(content).execute(conn)?;
                    let replaced = s::table.filter(s::id.eq_any(replaced));
                    on_backend!(conn, c => diesel::delete(replaced).execute(c))?;
                }
            }
            for StoredTile { level, index, hashes } in tiles {
                let index: i64 = columns::number(*index, TILE)?;
                let row = (t::level.eq(i32::from(*level)), t::tile.eq(index), t::hashes.eq(hashes));
                let insert = diesel::insert_into(t::table).values(row);
                let upsert = insert
                    .on_conflict((t::level, t::tile))
                    .do_update()
                    .set(t::hashes.eq(excluded(t::hashes)));
                on_backend!(conn, c => upsert.execute(c))?;
            }
            let size: i64 = columns::number(head.size, HEAD)?;
            let row = (
                h::origin.eq(&head.origin),
                h::issuer_key_id.eq(head.issuer_key.to_string()),
                h::size.eq(size),
                h::checkpoint.eq(&head.checkpoint),
            );
            let changed =
                (h::size.eq(excluded(h::size)), h::checkpoint.eq(excluded(h::checkpoint)));
            let upsert = diesel::insert_into(h::table)
                .values(row)
                .on_conflict(h::origin)
                .do_update()
                .set(changed);
            on_backend!(conn, c => upsert.execute(c))?;
            Ok(())
        })
    }

    /// Stores a checkpoint (a signed head) of the log `origin` with the cosignatures of witnesses.
    pub fn set_witnessed(&mut self, origin: &str, checkpoint: &str) -> Result<(), StoreError> {
        let head = diesel::update(h::table.find(origin)).set(h::witnessed.eq(checkpoint));
        self.execute(head).map(drop)
    }

    /// Deletes the entries, tiles and head of the transparency log, and begins a new log with the name `head.origin`.
    /// Deletes the statements about envelopes that were in the old log. All other statements wait to be appended to the
    /// new log. The log must be [locked](Self::lock_log).
    pub fn restart_log(&mut self, head: &LogHead) -> Result<(), StoreError> {
        self.run(|conn| {
            let lists = s::table.filter(s::kind.eq(StatementKind::Envelopes.as_str()));
            let logged = lists.filter(s::number.is_not_null());
            on_backend!(conn, c => diesel::delete(logged).execute(c))?;
            let pending =
                (s::number.eq(None::<i64>), s::at.eq(None::<i64>), s::salt.eq(None::<Vec<u8>>));
            diesel::update(s::table).set(pending).execute(conn)?;
            diesel::delete(e::table).execute(conn)?;
            diesel::delete(t::table).execute(conn)?;
            diesel::delete(h::table).execute(conn)?;
            Ok(())
        })?;
        self.append_to_log(&[], Timestamp::from_millis(0), &[], head)
    }

    /// Deletes up to `limit` log statements about envelopes that were appended before the time `before`. Returns their
    /// number. The entries of the statements stay in the log.
    pub fn purge_envelope_lists(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| {
            let index = match conn {
                AnyConnection::Postgres(_) => "",
                AnyConnection::Sqlite(_) => INDEX_OF_LISTS,
            };
            let text = format!(
                "/* log.purge_lists */ DELETE FROM log_statements WHERE id IN (
                     SELECT id FROM log_statements {index}
                     WHERE kind = 'envelopes' AND at < $1 ORDER BY at LIMIT $2
                 )"
            );
            let purge = diesel::sql_query(text)
                .bind::<BigInt, _>(before.as_millis())
                .bind::<BigInt, _>(i64::from(limit));
            columns::number(purge.execute(conn)?, STATEMENT)
        })
    }
}

impl Reader {
    /// Reads the state of the transparency log; `None` if there is no log yet.
    pub fn log_head(&mut self) -> Result<Option<LogHead>, StoreError> {
        type Row = (String, String, i64, String, Option<String>);
        self.first(h::table, |(origin, issuer_key, size, checkpoint, witnessed): Row| {
            let issuer_key = columns::id(&issuer_key, HEAD)?;
            let size = columns::number(size, HEAD)?;
            Ok(LogHead { origin, issuer_key, size, checkpoint, witnessed })
        })
    }

    /// Returns the id of the newest statement of the transparency log; 0 if there is none.
    pub fn newest_statement_id(&mut self) -> Result<i64, StoreError> {
        let newest = s::table.order(s::id.desc()).select(s::id);
        self.run(|conn| Ok(newest.first(conn).optional()?.unwrap_or(0)))
    }

    /// Returns true if a log statement with an id above `after` is not in the transparency log yet.
    pub fn has_pending_statements(&mut self, after: i64) -> Result<bool, StoreError> {
        let pending = s::table.filter(s::number.is_null()).filter(s::id.gt(after)).order(s::id);
        self.run(|conn| Ok(pending.select(s::id).first::<i64>(conn).optional()?.is_some()))
    }

    /// Reads up to `limit` log statements with ids above `after` that are not in the transparency log yet, in the order
    /// of ids.
    pub fn pending_statements(
        &mut self,
        after: i64,
        limit: u32,
    ) -> Result<Vec<PendingStatement>, StoreError> {
        let pending = s::table.filter(s::number.is_null()).filter(s::id.gt(after));
        let pending = pending.order(s::id).limit(limit.into());
        let pending = pending.select((s::id, s::kind, s::text, s::leaves));
        self.load(pending, |(id, kind, text, leaves): (_, _, _, Option<Vec<u8>>)| {
            Ok(PendingStatement { id, kind, text, leaves: leaves.unwrap_or_default() })
        })
    }

    /// Finds the newest log statement about the object with the id `subject`. `None` if no such statement is stored,
    /// for example after an erasure, or if the newest is not in the log yet.
    pub fn newest_statement(
        &mut self,
        kind: StatementKind,
        subject: &str,
    ) -> Result<Option<LoggedStatement>, StoreError> {
        self.run(|conn| {
            type Row = (Option<i64>, Option<i64>, Option<Vec<u8>>, String);
            let row = s::table
                .filter(s::kind.eq(kind.as_str()))
                .filter(s::subject.eq(subject))
                .order(s::id.desc())
                .select((s::number, s::at, s::salt, s::text))
                .first::<Row>(conn)
                .optional()?;
            let Some((Some(number), Some(at), Some(salt), text)) = row else { return Ok(None) };
            Ok(Some(LoggedStatement {
                number: columns::number(number, STATEMENT)?,
                at: Timestamp::from_millis(at),
                salt: columns::bytes(salt, STATEMENT)?,
                text,
            }))
        })
    }

    /// Finds the statement of a log entry by the number of the entry. `None` if the entry has no statement, for example
    /// after an erasure.
    pub fn statement_of_entry(
        &mut self,
        number: u64,
    ) -> Result<Option<LoggedStatement>, StoreError> {
        let column: i64 = columns::number(number, STATEMENT)?;
        let statement = s::table.filter(s::number.eq(column)).select((
            s::at.assume_not_null(),
            s::salt.assume_not_null(),
            s::text,
        ));
        self.first(statement, |(at, salt, text)| {
            let (at, salt) = (Timestamp::from_millis(at), columns::bytes(salt, STATEMENT)?);
            Ok(LoggedStatement { number, at, salt, text })
        })
    }

    /// Finds the log statement that contains the hash `leaf` of an envelope. Returns the statement and the hashes of
    /// all its envelopes.
    ///
    /// First searches the statements from the time `sent_at` on, oldest first. Then searches the statements of the
    /// duration `skew` before `sent_at`, newest first, because the clocks of nodes differ. Both searches read a bounded
    /// number of statements. Returns `None` if none of these statements contains the envelope.
    pub fn find_envelope_list(
        &mut self,
        leaf: &[u8; 32],
        sent_at: Timestamp,
        skew: Duration,
    ) -> Result<Option<(LoggedStatement, Vec<u8>)>, StoreError> {
        self.run(|conn| {
            type Row = (i64, i64, Vec<u8>, String, Vec<u8>);
            let text = match conn {
                AnyConnection::Postgres(_) => FIND_LIST_POSTGRES,
                AnyConnection::Sqlite(_) => FIND_LIST_SQLITE,
            };
            let row = on_backend!(conn, c => {
                Statement::<_, (BigInt, BigInt, Binary, Text, Binary)>::query(text)
                    .bind::<BigInt, _>(sent_at.as_millis())
                    .bind::<BigInt, _>(LISTS_SEARCHED_MAX)
                    .bind::<BigInt, _>(sent_at.minus(skew).as_millis())
                    .bind::<BigInt, _>(sent_at.as_millis())
                    .bind::<BigInt, _>(LISTS_SEARCHED_MAX)
                    .bind::<Binary, _>(leaf.as_slice())
                    .get_result::<Row>(c)
                    .optional()
            })?;
            let Some((number, at, salt, text, leaves)) = row else { return Ok(None) };
            let number = columns::number(number, STATEMENT)?;
            let (at, salt) = (Timestamp::from_millis(at), columns::bytes(salt, STATEMENT)?);
            Ok(Some((LoggedStatement { number, at, salt, text }, leaves)))
        })
    }

    /// Reads the hashes of a tile of the transparency log: a group of hashes of one level of its tree. `None` if the
    /// tree has no such tile.
    pub fn log_tile(&mut self, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let Ok(index) = i64::try_from(index) else { return Ok(None) };
        let hashes = t::table.find((i32::from(level), index)).select(t::hashes);
        self.run(|conn| Ok(hashes.first(conn).optional()?))
    }

    /// Reads up to `limit` entries of the transparency log, from the number `first` on.
    pub fn log_entries(&mut self, first: u64, limit: u16) -> Result<Vec<Vec<u8>>, StoreError> {
        let Ok(first) = i64::try_from(first) else { return Ok(Vec::new()) };
        let entries = e::table.filter(e::number.ge(first)).order(e::number).limit(limit.into());
        self.run(|conn| Ok(entries.select(e::entry).load(conn)?))
    }
}

const ENTRY: &str = "entry of the log";
const HEAD: &str = "head of the log";
const STATEMENT: &str = "statement of the log";
const TILE: &str = "tile of the log";
/// Number of the advisory lock for appending to the log: `tlog` in ASCII. A row lock is not sufficient, because there
/// may be no row yet.
const LOCK: i64 = 0x746c_6f67;
/// Maximum number of statements that each of the two searches of [`Reader::find_envelope_list`] reads. Each node stores
/// about one statement about envelopes per second, and one more for each request for evidence.
const LISTS_SEARCHED_MAX: i64 = 100;
const FIND_LIST_POSTGRES: &str = "/* log.find_list */
    SELECT number, at, salt, text, leaves FROM (
        SELECT * FROM (
            SELECT * FROM log_statements WHERE kind = 'envelopes' AND at >= ? ORDER BY at LIMIT ?
        ) AS later
        UNION ALL SELECT * FROM (
            SELECT * FROM log_statements WHERE kind = 'envelopes' AND at >= ? AND at < ?
            ORDER BY at DESC LIMIT ?
        ) AS earlier
    ) AS l WHERE position(? IN leaves) > 0 LIMIT 1";
/// [`FIND_LIST_POSTGRES`] for SQLite, with the name of the index. Otherwise, SQLite would choose another index, and
/// read all statements about envelopes.
const FIND_LIST_SQLITE: &str = "/* log.find_list */
    SELECT number, at, salt, text, leaves FROM (
        SELECT * FROM (
            SELECT * FROM log_statements INDEXED BY ix_log_statements__at__envelopes
            WHERE kind = 'envelopes' AND at >= ? ORDER BY at LIMIT ?
        )
        UNION ALL SELECT * FROM (
            SELECT * FROM log_statements INDEXED BY ix_log_statements__at__envelopes
            WHERE kind = 'envelopes' AND at >= ? AND at < ? ORDER BY at DESC LIMIT ?
        )
    ) WHERE instr(leaves, ?) > 0 LIMIT 1";
const INDEX_OF_LISTS: &str = "INDEXED BY ix_log_statements__at__envelopes";
