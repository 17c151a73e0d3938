//! Writes the rows of a move into PostgreSQL, and reads the rows back, in one transaction.

use diesel::{
    PgConnection, SqliteConnection,
    connection::SimpleConnection as _,
    pg::{Pg, PgRowByRowLoadingMode},
    prelude::*,
    query_builder::BoxedSqlQuery,
    sql_query,
    sql_types::{Array, BigInt, Binary, Bool, Nullable, Text},
};

use super::{
    cells::TargetRowHash,
    checksum::TableSum,
    error::MoveError,
    rows::{ColumnValues, RowPortion},
    tables::MovedTable,
};
use crate::{
    connection::{AnyConnection, query_error::QueryError},
    query::statement::Statement,
};

/// Refuses a database that has a table in the schema of the service. Ignores tables of extensions.
pub(super) fn require_empty(conn: &mut AnyConnection) -> Result<(), QueryError> {
    let AnyConnection::Postgres(pg) = conn else {
        return Err(QueryError::Refused(MoveError::NotPostgres.into()));
    };
    match Statement::<_, Text>::query(FIRST_TABLE).get_result::<String>(pg).optional()? {
        None => Ok(()),
        Some(name) => Err(QueryError::Refused(MoveError::NotEmpty(name).into())),
    }
}

/// Removes the timeouts of this transaction, because a copy may take longer.
pub(super) fn end_timeouts(pg: &mut PgConnection) -> Result<(), QueryError> {
    Ok(pg.batch_execute(
        "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
         SET LOCAL idle_in_transaction_session_timeout = 0",
    )?)
}

/// Deletes the rows that migrations or triggers have stored in this table. The rows of the source then take their
/// place. Such rows exist in three tables:
///
/// - `database_identity`: the new id of the database
/// - `waiting_transfers`: a request to transfer waiting envelopes for each webhook that was moved
/// - `log_statements`: a statement of the transparency log for each key, badge and audit entry that was moved
pub(super) fn clear(pg: &mut PgConnection, table: &MovedTable) -> Result<(), QueryError> {
    if ["database_identity", "log_statements", "waiting_transfers"].contains(&&*table.name) {
        sql_query(format!("/* moving.clear */ DELETE FROM \"{}\"", table.name)).execute(pg)?;
    }
    Ok(())
}

/// Inserts the rows of a portion with one statement.
pub(super) fn insert(
    pg: &mut PgConnection,
    table: &MovedTable,
    portion: RowPortion,
) -> Result<(), QueryError> {
    if portion.len() == 0 {
        return Ok(());
    }
    let values: Vec<_> = (1..=table.columns.len()).map(|number| format!("${number}")).collect();
    let text = format!(
        "/* moving.insert */ INSERT INTO \"{}\" ({}) SELECT * FROM unnest({})",
        table.name,
        table.column_list(),
        values.join(", ")
    );
    let insert = sql_query(text).into_boxed::<Pg>();
    portion.columns.into_iter().fold(insert, bind).execute(pg)?;
    Ok(())
}

fn bind(
    insert: BoxedSqlQuery<'_, Pg, diesel::query_builder::SqlQuery>,
    values: ColumnValues,
) -> BoxedSqlQuery<'_, Pg, diesel::query_builder::SqlQuery> {
    match values {
        ColumnValues::Booleans(values) => insert.bind::<Array<Nullable<Bool>>, _>(values),
        ColumnValues::Bytes(values) => insert.bind::<Array<Nullable<Binary>>, _>(values),
        ColumnValues::Integers(values) => insert.bind::<Array<Nullable<BigInt>>, _>(values),
        ColumnValues::Texts(values) => insert.bind::<Array<Nullable<Text>>, _>(values),
    }
}

/// Reads a table back, and returns the number and the checksum of its rows.
pub(super) fn sum(pg: &mut PgConnection, table: &MovedTable) -> Result<TableSum, QueryError> {
    let query = sql_query(format!(
        "/* moving.read_target */ SELECT {} FROM \"{}\"",
        table.column_list(),
        table.name
    ));
    let mut sum = TableSum::default();
    for row in query.load_iter::<TargetRowHash, PgRowByRowLoadingMode>(pg)? {
        sum.add(row?.0);
    }
    Ok(sum)
}

/// Sets the sequences of attempt numbers and log statement ids so that new rows get larger numbers than any row that
/// the source has ever had. The rows with the largest numbers may be deleted already. Therefore also uses the sequences
/// of the source, and the number of the last counted attempt.
pub(super) fn continue_numbers(
    pg: &mut PgConnection,
    source: &mut SqliteConnection,
) -> Result<(), QueryError> {
    for (table, text) in [("attempts", CONTINUE_NUMBERS), ("log_statements", CONTINUE_STATEMENTS)] {
        let last = Statement::<_, BigInt>::query(SOURCE_SEQUENCE).bind::<Text, _>(table);
        let last = last.get_result::<i64>(source).optional()?.unwrap_or(0);
        sql_query(text).bind::<BigInt, _>(last).execute(pg)?;
    }
    Ok(())
}

/// Collects the statistics of the tables, on which the plans of the first statements depend.
pub(super) fn analyze(pg: &mut PgConnection, tables: &[MovedTable]) -> Result<(), QueryError> {
    let names: Vec<_> = tables.iter().map(|table| format!("\"{}\"", table.name)).collect();
    sql_query(format!("/* moving.analyze */ ANALYZE {}", names.join(", "))).execute(pg)?;
    Ok(())
}

const FIRST_TABLE: &str = "/* moving.first_table */
    SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'e')
    ORDER BY 1 LIMIT 1";

const SOURCE_SEQUENCE: &str = "/* moving.source_sequence */
    SELECT seq FROM sqlite_sequence WHERE name = ?";
const CONTINUE_NUMBERS: &str = "/* moving.continue_attempts */
    SELECT setval('attempt_numbers', newest) FROM (SELECT greatest(
        $1, (SELECT max(number) FROM attempts),
        (SELECT last_counted::BIGINT FROM daily_count_progress WHERE source = 'attempts')
    ) AS newest) AS numbers WHERE newest > 0";
const CONTINUE_STATEMENTS: &str = "/* moving.continue_statements */
    SELECT setval('log_statement_ids', newest)
    FROM (SELECT greatest($1, (SELECT max(id) FROM log_statements)) AS newest) AS ids WHERE newest > 0";
