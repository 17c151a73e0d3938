//! Partitions of the tables `envelopes` and `attempts` on PostgreSQL: new ones are created ahead of time, and retention
//! drops old ones.
//!
//! The partitions of a table cover all times, so every row has a partition, whatever the clocks say. The newest
//! partition has no upper bound. It ends before the first row needs it: [`extend`] gives it a bound while it is empty.
//!
//! Creating or dropping partitions locks the whole table. All other transactions wait, so these functions give up after
//! [`LOCK_TIMEOUT`], and the next turn of housekeeping tries again.

use std::time::Duration;

use diesel::{
    PgConnection, connection::SimpleConnection, prelude::*, result::Error, sql_query,
    sql_types::BigInt,
};
use sealpost_domain::{EnvelopeId, Timestamp};

use crate::{connection::fault::Fault, rows::columns, schema::partitions as p};

/// A table with partitions.
pub(crate) struct PartitionedTable {
    pub(crate) name: &'static str,
    /// The column whose ranges are the partitions.
    column: &'static str,
    /// Returns the literal of a bound.
    literal: fn(Timestamp) -> String,
}

pub(crate) const ENVELOPES: PartitionedTable = PartitionedTable {
    name: "envelopes",
    column: "id",
    literal: |at| format!("'{}'", first_id(at)),
};

pub(crate) const ATTEMPTS: PartitionedTable =
    PartitionedTable { name: "attempts", column: "at", literal: |at| at.as_millis().to_string() };

/// A partition: the rows from `lower` to below `upper`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) name: String,
    /// `None` for the oldest partition.
    pub(crate) lower: Option<Timestamp>,
    /// `None` for the newest partition.
    pub(crate) upper: Option<Timestamp>,
    /// Whether retention drops the partition. Rows of other partitions are deleted one by one.
    pub(crate) is_dropped_whole: bool,
}

/// Returns a lower bound of the ids of all envelopes from a time on.
pub(crate) fn first_id(at: Timestamp) -> String {
    let mut id = EnvelopeId::new(at, [0; 10]).to_string();
    id.truncate(EnvelopeId::PREFIX.len() + TIME_LEN);
    id
}

/// Returns the partitions of a table, oldest first.
pub(crate) fn list(
    conn: &mut PgConnection,
    table: &PartitionedTable,
) -> Result<Vec<Partition>, Fault> {
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

/// Returns the end of the first partition that retention can drop: all rows are from before `before`. Partitions are
/// dropped one after the other, because the progress of a release belongs to one partition.
pub(crate) fn first_ended(partitions: &[Partition], before: Timestamp) -> Option<Timestamp> {
    let whole = partitions.iter().find(|partition| partition.is_dropped_whole)?;
    whole.upper.filter(|upper| *upper <= before)
}

/// Returns the ranges of time from before `before` in which rows are deleted one by one, oldest first.
pub(crate) fn ranges_of_rows(
    partitions: &[Partition],
    before: Timestamp,
) -> Vec<(Option<Timestamp>, Timestamp)> {
    let by_row = partitions.iter().filter(|partition| !partition.is_dropped_whole);
    let begun = by_row.filter(|partition| partition.lower.is_none_or(|lower| lower < before));
    let range = |it: &Partition| (it.lower, it.upper.map_or(before, |upper| upper.min(before)));
    begun.map(range).collect()
}

/// Gives the newest partition an upper bound and adds an empty newest partition, if the newest one begins less than
/// `span` after `now`. Returns whether the table has a new partition.
///
/// Does nothing if a stored row is later than the new bound. Then a clock is wrong by more than `span`.
pub(crate) fn extend(
    conn: &mut PgConnection,
    table: &PartitionedTable,
    now: Timestamp,
    span: Duration,
) -> Result<bool, Fault> {
    let partitions = list(conn, table)?;
    let Some(Partition { name: newest, lower: Some(lower), .. }) = partitions.last() else {
        return Ok(false);
    };
    if *lower > now.plus(span) {
        return Ok(false);
    }
    let upper = now.max(*lower).plus(span);
    // A partition that spans much more time, after a long stop, would keep its last rows for too long.
    let is_dropped_whole = upper.since(*lower) <= span * 3;
    let PartitionedTable { name: parent, column, literal } = table;
    let (from, to) = (literal(*lower), literal(upper));
    let added = format!("{parent}_from_{}", upper.as_millis());
    while_locked(conn, table, &[newest], |conn| {
        let later = format!(
            "SELECT count(*) AS number FROM (
            SELECT FROM {newest} WHERE {column} >= {to} LIMIT 1) AS later"
        );
        if number(conn, &later)? > 0 {
            return Ok(false);
        }
        conn.batch_execute(&format!(
            "ALTER TABLE {parent} DETACH PARTITION {newest};
             ALTER TABLE {parent} ATTACH PARTITION {newest} FOR VALUES FROM ({from}) TO ({to});
             CREATE TABLE {added} (LIKE {parent} INCLUDING ALL) WITH ({OPTIONS});
             ALTER TABLE {parent} ATTACH PARTITION {added} FOR VALUES FROM ({to}) TO (MAXVALUE)"
        ))?;
        let bounded =
            (p::upper_bound.eq(upper.as_millis()), p::is_dropped_whole.eq(is_dropped_whole));
        diesel::update(p::table.find(newest)).set(bounded).execute(conn)?;
        insert(conn, table, &added, None)?;
        Ok(true)
    })
}

/// Drops all partitions up to `upper` with their rows, if `may_drop` agrees while the table is locked. An empty
/// partition takes their place, because a clock may be far behind. Returns whether the partitions were dropped.
pub(crate) fn drop_up_to(
    conn: &mut PgConnection,
    table: &PartitionedTable,
    upper: Timestamp,
    may_drop: impl FnOnce(&mut PgConnection) -> Result<bool, Fault>,
) -> Result<bool, Fault> {
    let ended = |partition: &Partition| partition.upper.is_some_and(|end| end <= upper);
    let old: Vec<_> = list(conn, table)?.into_iter().filter(ended).collect();
    let old: Vec<_> = old.iter().map(|partition| &*partition.name).collect();
    let parent = table.name;
    let (to, added) = ((table.literal)(upper), format!("{parent}_before_{}", upper.as_millis()));
    while_locked(conn, table, &old, |conn| {
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

/// Runs `work` while no other transaction uses the table or these partitions. Returns `false` without a change if
/// `work` does, or if the locks are not free within [`LOCK_TIMEOUT`].
///
/// Locks the table first, like all other transactions. Does not wait for a partition, because a vacuum may run for long.
fn while_locked(
    conn: &mut PgConnection,
    table: &PartitionedTable,
    partitions: &[&str],
    work: impl FnOnce(&mut PgConnection) -> Result<bool, Fault>,
) -> Result<bool, Fault> {
    let lock = format!(
        "SET LOCAL lock_timeout = {};
         LOCK TABLE ONLY {} IN ACCESS EXCLUSIVE MODE;
         LOCK TABLE {} IN ACCESS EXCLUSIVE MODE NOWAIT",
        LOCK_TIMEOUT.as_millis(),
        table.name,
        partitions.join(", ")
    );
    #[expect(clippy::disallowed_methods, reason = "a savepoint in a transaction of the store")]
    let done = conn.transaction(|conn| {
        conn.batch_execute(&lock).map_err(Unchanged::NotLocked)?;
        if work(conn)? { Ok(()) } else { Err(Unchanged::Declined) }
    });
    match done {
        Ok(()) => Ok(true),
        Err(Unchanged::Declined) => Ok(false),
        Err(Unchanged::NotLocked(Error::DatabaseError(_, info)))
            if is_lock_refusal(info.message()) =>
        {
            Ok(false)
        }
        Err(Unchanged::NotLocked(error)) => Err(error.into()),
        Err(Unchanged::Failed(fault)) => Err(fault),
    }
}

/// The reason why a savepoint was rolled back.
enum Unchanged {
    Declined,
    Failed(Fault),
    NotLocked(Error),
}

impl From<Fault> for Unchanged {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

impl From<Error> for Unchanged {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

fn is_lock_refusal(message: &str) -> bool {
    message.contains("lock timeout") || message.contains("could not obtain lock")
}

fn insert(
    conn: &mut PgConnection,
    table: &PartitionedTable,
    name: &str,
    upper: Option<Timestamp>,
) -> Result<(), Fault> {
    let row = (
        p::name.eq(name),
        p::parent.eq(table.name),
        p::upper_bound.eq(upper.map(Timestamp::as_millis)),
        p::is_dropped_whole.eq(false),
    );
    diesel::insert_into(p::table).values(row).execute(conn)?;
    Ok(())
}

fn number(conn: &mut PgConnection, query: &str) -> Result<i64, Fault> {
    Ok(sql_query(query).get_result::<Number>(conn)?.number)
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Number of characters of an id that are its time.
const TIME_LEN: usize = 10;
/// Maximum time for which other transactions wait behind a waiting lock of a whole table.
const LOCK_TIMEOUT: Duration = Duration::from_millis(50);
/// Options of a partition. Its rows are inserted, opened at most once, and dropped. A vacuum or an analysis would be
/// wasted, and holds a lock that postpones the drop. PostgreSQL still vacuums a partition in time for its transaction ids.
const OPTIONS: &str = "autovacuum_enabled = false";
