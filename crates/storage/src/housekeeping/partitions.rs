//! Partitions of the tables `envelopes` and `attempts` on PostgreSQL: new ones are created ahead of time, and retention
//! drops old ones.
//!
//! The partitions of a table cover all times, so that every row has a partition, even if a clock is wrong. The newest
//! partition has no upper bound. [`extend`] gives this partition a bound before its first row arrives, and adds a new
//! partition after it.
//!
//! Creating or dropping partitions needs an exclusive lock of the whole table. All other transactions wait behind the
//! request for this lock. Therefore these functions give up after [`LOCK_TIMEOUT`], and the next run of the
//! housekeeping task tries again.

use std::time::Duration;

use diesel::{
    PgConnection,
    connection::SimpleConnection,
    dsl::sql,
    prelude::*,
    result::Error,
    sql_types::{BigInt, Nullable},
};
use metrics::counter;
use sealpost_domain::{EnvelopeId, Timestamp, ports::StoreError};

use crate::{
    connection::{AnyConnection, query_error::QueryError, server_clock, transaction::Transaction},
    rows::columns,
    schema::partitions as p,
};

/// A table that is split into partitions by ranges of time.
pub(crate) struct PartitionedTable {
    pub(crate) name: &'static str,
    /// The column whose value determines the partition of a row.
    column: &'static str,
    /// The column that contains the time of a row in milliseconds.
    time: &'static str,
    /// Converts the bound of a partition to an SQL literal of the column's type.
    literal: fn(Timestamp) -> String,
}

pub(crate) const ENVELOPES: PartitionedTable = PartitionedTable {
    name: "envelopes",
    column: "id",
    time: "created_at",
    literal: |at| format!("'{}'", first_id(at)),
};

pub(crate) const ATTEMPTS: PartitionedTable = PartitionedTable {
    name: "attempts",
    column: "at",
    time: "at",
    literal: |at| at.as_millis().to_string(),
};

/// A partition. Its rows have times from `lower` (inclusive) to `upper` (exclusive).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) name: String,
    /// Start of the time range; `None` for the oldest partition.
    pub(crate) lower: Option<Timestamp>,
    /// End of the time range; `None` for the newest partition.
    pub(crate) upper: Option<Timestamp>,
    /// Whether retention drops the partition as a whole. If not, retention deletes the rows of the partition one by
    /// one.
    pub(crate) is_dropped_whole: bool,
}

impl Transaction {
    /// Creates partitions for the rows of the next `span`, if the database has partitions. Returns true if any
    /// partition was created. Uses the earlier of `now` and the clock of the database server.
    ///
    /// A partition contains the rows of about `span`, and retention drops a partition once all its rows have expired.
    /// Therefore a row can stay stored for about `span` after it has expired.
    pub fn extend_partitions(
        &mut self,
        now: Timestamp,
        span: Duration,
    ) -> Result<bool, StoreError> {
        self.run(|conn| {
            let Some(server) = server_clock(conn)? else { return Ok(false) };
            let AnyConnection::Postgres(pg) = conn else { return Ok(false) };
            let now = now.min(server);
            let envelopes = extend(pg, &ENVELOPES, now, span)?;
            Ok(extend(pg, &ATTEMPTS, now, span)? || envelopes)
        })
    }
}

/// Returns a text that separates envelope ids by time. Ids of envelopes sealed before `at` sort below this text; all
/// other ids do not.
pub(crate) fn first_id(at: Timestamp) -> String {
    let mut id = EnvelopeId::new(at, [0; 10]).to_string();
    id.truncate(EnvelopeId::PREFIX.len() + TIME_LEN);
    id
}

/// Returns the partitions of a table, oldest first.
pub(crate) fn list(
    conn: &mut PgConnection,
    table: &PartitionedTable,
) -> Result<Vec<Partition>, QueryError> {
    let rows: Vec<(String, Option<i64>, bool)> = p::table
        .filter(p::parent.eq(table.name))
        .order(p::upper_bound.asc().nulls_last())
        .select((p::name, p::upper_bound, p::is_dropped_whole))
        .load(conn)?;
    let mut lower = None;
    let partitions = rows.into_iter().map(|(name, upper, is_dropped_whole)| {
        let upper = columns::instant(upper);
        let partition = Partition { name, lower, upper, is_dropped_whole };
        lower = upper;
        partition
    });
    Ok(partitions.collect())
}

/// Finds the oldest partition that is dropped as a whole. Returns its upper bound if all its rows are from before
/// `before`, otherwise `None`. Later partitions wait until this one is dropped.
pub(crate) fn first_ended(partitions: &[Partition], before: Timestamp) -> Option<Timestamp> {
    let whole = partitions.iter().find(|partition| partition.is_dropped_whole)?;
    whole.upper.filter(|upper| *upper <= before)
}

/// Returns the time ranges before `before` in which rows are deleted one by one, oldest first. These are the ranges of
/// the partitions that are not dropped as a whole.
pub(crate) fn ranges_of_rows(
    partitions: &[Partition],
    before: Timestamp,
) -> Vec<(Option<Timestamp>, Timestamp)> {
    let by_row = partitions.iter().filter(|partition| !partition.is_dropped_whole);
    let begun = by_row.filter(|partition| partition.lower.is_none_or(|lower| lower < before));
    let range = |it: &Partition| (it.lower, it.upper.map_or(before, |upper| upper.min(before)));
    begun.map(range).collect()
}

/// If the newest partition begins at most `span` after `now`, gives it an upper bound, and adds an empty partition
/// after it. Returns whether a partition was added.
///
/// Adds no partition if the newest one has a row later than the new bound, which only a node with a clock far ahead can
/// store. Retention then deletes the rows of the newest partition one by one, so this function turns on autovacuum for
/// it.
pub(crate) fn extend(
    conn: &mut PgConnection,
    table: &PartitionedTable,
    now: Timestamp,
    span: Duration,
) -> Result<bool, QueryError> {
    let partitions = list(conn, table)?;
    let Some(Partition { name: newest, lower: Some(lower), .. }) = partitions.last() else {
        return Ok(false);
    };
    if *lower > now.plus(span) {
        return Ok(false);
    }
    let upper = now.max(*lower).plus(span);
    // After a long stop, the partition can span much more time. Housekeeping then deletes the rows one by one, because
    // the oldest rows would have to wait for the drop of the whole partition.
    let is_dropped_whole = upper.since(*lower) <= span * 3;
    // A partition without an upper bound, or with too much time in it, gets an autovacuum: its rows are deleted one by
    // one.
    let vacuumed = format!("ALTER TABLE {newest} RESET (autovacuum_enabled)");
    let PartitionedTable { name: parent, column, time, literal } = table;
    let (from, to) = (literal(*lower), literal(upper));
    let added = format!("{parent}_from_{}", upper.as_millis());
    let mut later: Option<i64> = None;
    let is_done = while_locked(conn, table, &exclusive_lock(table, &[newest]), |conn| {
        let find_later = format!(
            "/* partitions.extend */ (SELECT {time} FROM {newest} WHERE {column} >= {to} LIMIT 1)"
        );
        later = diesel::select(sql::<Nullable<BigInt>>(&find_later)).get_result(conn)?;
        if later.is_some() {
            conn.batch_execute(&vacuumed)?;
            return Ok(true);
        }
        conn.batch_execute(&format!(
            "ALTER TABLE {parent} DETACH PARTITION {newest};
             ALTER TABLE {parent} ATTACH PARTITION {newest} FOR VALUES FROM ({from}) TO ({to});
             CREATE TABLE {added} (LIKE {parent} INCLUDING ALL) WITH ({OPTIONS});
             ALTER TABLE {parent} ATTACH PARTITION {added} FOR VALUES FROM ({to}) TO (MAXVALUE)"
        ))?;
        // Earlier calls may have reset the options, because the partition had later rows.
        let dropped_whole = format!("ALTER TABLE {newest} SET ({OPTIONS})");
        conn.batch_execute(if is_dropped_whole { &dropped_whole } else { &vacuumed })?;
        let bounded =
            (p::upper_bound.eq(upper.as_millis()), p::is_dropped_whole.eq(is_dropped_whole));
        diesel::update(p::table.find(newest)).set(bounded).execute(conn)?;
        insert(conn, table, &added, None)?;
        Ok(true)
    })?;
    if let Some(later) = columns::instant(later) {
        warn_of_later_row(table, later);
        return Ok(false);
    }
    Ok(is_done)
}

/// Logs that the newest partition of a table gets no upper bound, because it has a row of the time `later`. Also counts
/// this in a metric.
fn warn_of_later_row(table: &PartitionedTable, later: Timestamp) {
    postponed(table, "rows");
    tracing::warn!(
        table = table.name,
        %later,
        "a row is dated in the future, so the newest partition gets no end and is not dropped; correct the clocks of \
         all nodes"
    );
}

/// Locks the table. If `may_drop` then returns true, drops all partitions that end at `upper` or earlier, with their
/// rows. Returns true if the partitions were dropped.
///
/// After the drop, adds an empty partition for the same range of times. A node with a clock far behind may still
/// insert rows there.
pub(crate) fn drop_up_to(
    conn: &mut PgConnection,
    table: &PartitionedTable,
    upper: Timestamp,
    may_drop: impl FnOnce(&mut PgConnection) -> Result<bool, QueryError>,
) -> Result<bool, QueryError> {
    let ended = |partition: &Partition| partition.upper.is_some_and(|end| end <= upper);
    let old: Vec<_> = list(conn, table)?.into_iter().filter(ended).collect();
    let old: Vec<_> = old.iter().map(|partition| &*partition.name).collect();
    let parent = table.name;
    let (to, added) = ((table.literal)(upper), format!("{parent}_before_{}", upper.as_millis()));
    while_locked(conn, table, &exclusive_lock(table, &old), |conn| {
        if !may_drop(conn)? {
            return Ok(false);
        }
        conn.batch_execute(&format!(
            "DROP TABLE {};
             CREATE TABLE {added} (LIKE {parent} INCLUDING ALL) WITH ({OPTIONS});
             ALTER TABLE {parent} ATTACH PARTITION {added} FOR VALUES FROM (MINVALUE) TO ({to})",
            old.join(", ")
        ))?;
        diesel::delete(p::table.filter(p::name.eq_any(&old))).execute(conn)?;
        insert(conn, table, &added, Some(upper))?;
        Ok(true)
    })
}

/// Returns the statements that lock the table and these partitions, so that no other transaction uses them.
///
/// Locks the table before the partitions, in the same order as all other transactions. Does not wait for a partition,
/// because a vacuum can hold the lock of a partition for long.
fn exclusive_lock(table: &PartitionedTable, partitions: &[&str]) -> String {
    format!(
        "LOCK TABLE ONLY {} IN ACCESS EXCLUSIVE MODE;
         LOCK TABLE {} IN ACCESS EXCLUSIVE MODE NOWAIT",
        table.name,
        partitions.join(", ")
    )
}

/// Runs the statements `lock`, which take locks, and then `work`, both in a savepoint. If a lock is not free within
/// [`LOCK_TIMEOUT`], or if `work` returns `false`, changes nothing, logs and counts this, and returns `false`.
fn while_locked(
    conn: &mut PgConnection,
    table: &PartitionedTable,
    lock: &str,
    work: impl FnOnce(&mut PgConnection) -> Result<bool, QueryError>,
) -> Result<bool, QueryError> {
    let lock = format!(
        "SET LOCAL lock_timeout = {};
         SET LOCAL statement_timeout = {};
         {lock}",
        LOCK_TIMEOUT.as_millis(),
        LOCKED_MAX.as_millis(),
    );
    #[expect(clippy::disallowed_methods, reason = "a savepoint in a transaction of the store")]
    let done = conn.transaction(|conn| {
        conn.batch_execute(&lock).map_err(Unchanged::NotLocked)?;
        if work(conn)? { Ok(()) } else { Err(Unchanged::Declined) }
    });
    match done {
        Ok(()) => Ok(true),
        Err(Unchanged::Declined) => {
            postponed(table, "rows");
            Ok(false)
        }
        Err(Unchanged::NotLocked(Error::DatabaseError(_, info)))
            if is_lock_refusal(info.message()) =>
        {
            postponed(table, "lock");
            Ok(false)
        }
        Err(Unchanged::NotLocked(error)) => Err(error.into()),
        Err(Unchanged::Failed(fault)) => Err(fault),
    }
}

/// The reason why the savepoint of [`while_locked`] was rolled back.
enum Unchanged {
    Declined,
    Failed(QueryError),
    NotLocked(Error),
}

impl From<QueryError> for Unchanged {
    fn from(fault: QueryError) -> Self {
        Self::Failed(fault)
    }
}

impl From<Error> for Unchanged {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Logs a change of partitions that is left to a later run of the housekeeping task, and counts the change in a metric.
/// The reason is `lock` if a lock was not free, and `rows` if rows of the partition do not allow the change yet.
fn postponed(table: &PartitionedTable, reason: &'static str) {
    counter!("sealpost_partition_changes_postponed_total", "table" => table.name, "reason" => reason)
        .increment(1);
    tracing::info!(
        table = table.name,
        reason,
        "a change of partitions is postponed to a later turn of housekeeping"
    );
}

fn is_lock_refusal(message: &str) -> bool {
    message.contains("lock timeout") || message.contains("could not obtain lock")
}

fn insert(
    conn: &mut PgConnection,
    table: &PartitionedTable,
    name: &str,
    upper: Option<Timestamp>,
) -> Result<(), QueryError> {
    let row = (
        p::name.eq(name),
        p::parent.eq(table.name),
        p::upper_bound.eq(upper.map(Timestamp::as_millis)),
        p::is_dropped_whole.eq(false),
    );
    diesel::insert_into(p::table).values(row).execute(conn)?;
    Ok(())
}

/// Number of characters after the prefix of an id that encode the time of creation.
const TIME_LEN: usize = 10;
/// Maximum wait for the lock of a whole table. During this wait, all other transactions on the table wait too.
const LOCK_TIMEOUT: Duration = Duration::from_millis(50);
/// Maximum duration of one statement while all other transactions wait for the locked table.
const LOCKED_MAX: Duration = Duration::from_secs(1);
/// Options of a partition that is dropped as a whole: no autovacuum. Its rows change at most once before the drop, so
/// an autovacuum would be wasted work. The lock of an autovacuum would also delay the drop. PostgreSQL still vacuums a
/// partition in time to prevent the wraparound of transaction ids.
const OPTIONS: &str = "autovacuum_enabled = false";
