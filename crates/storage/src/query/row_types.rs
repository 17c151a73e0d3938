//! Row types, each declared with its list of columns.
//!
//! [`stored_row!`] declares a row that is written, [`selected_row!`] a row that is read. Both macros generate all code
//! from the list of fields: the list of columns, the array parameters of PostgreSQL, the insert of SQLite and the SQL
//! types. To add a column, add a field.

use diesel::{pg::Pg, prelude::*, sqlite::Sqlite};

use crate::{
    connection::{AnyConnection, query_error::QueryError},
    query::statement::Statement,
};

/// A row that is written. In updates, the first column selects the row.
pub(crate) trait StoredRow: Sized {
    const TABLE: &'static str;
    const COLUMNS: &'static [&'static str];

    /// Binds one array for each column, in the order of [`COLUMNS`](Self::COLUMNS).
    fn bind_arrays<'rows, R>(
        rows: &'rows [Self],
        statement: Statement<'rows, Pg, R>,
    ) -> Statement<'rows, Pg, R>;

    /// Binds all columns except the first, and then the first column. This is the order of the parameters of
    /// [`update_one`].
    fn bind_key_last<'rows>(
        &'rows self,
        statement: Statement<'rows, Sqlite, ()>,
    ) -> Statement<'rows, Sqlite, ()>;

    /// Inserts the row, unless a row with the same key is stored. Returns the number of inserted rows.
    fn insert_if_new(&self, conn: &mut SqliteConnection) -> QueryResult<usize>;
}

/// A row that queries read.
pub(crate) trait SelectedRow {
    /// The selected columns, as a diesel type.
    type Selection: Expression;
    const SELECTION: Self::Selection;
    const COLUMNS: &'static [&'static str];

    /// Returns the columns as text, with an alias of the table: `e.id, e.sender`.
    fn list(alias: &str) -> String {
        each(Self::COLUMNS, |column| format!("{alias}.{column}"))
    }
}

/// The diesel type that assigns a borrowed value to a column.
pub(crate) type Assignment<'row, C, T> = diesel::dsl::Eq<C, &'row T>;

/// Returns the columns of a row that derives [`Selectable`].
pub(crate) fn columns_of<R: Selectable<Sqlite>>() -> R::SelectExpression {
    R::construct_selection()
}

/// Inserts the rows that are not stored yet, and returns their number. `key` lists the columns of the primary key.
pub(crate) fn insert_missing<R: StoredRow>(
    conn: &mut AnyConnection,
    rows: &[R],
    key: &str,
) -> Result<usize, QueryError> {
    match conn {
        AnyConnection::Postgres(pg) => {
            let text = format!("{} ON CONFLICT ({key}) DO NOTHING", insert_all::<R>());
            Ok(R::bind_arrays(rows, Statement::command(&text)).execute(pg)?)
        }
        AnyConnection::Sqlite(lite) => {
            let mut inserted = 0;
            for row in rows {
                inserted += row.insert_if_new(lite)?;
            }
            Ok(inserted)
        }
    }
}

/// Returns `INSERT INTO … SELECT unnest(?), …` with one array for each column.
///
/// The arrays are in the select list. In FROM, PostgreSQL would write each array to temporary storage and read it back.
pub(crate) fn insert_all<R: StoredRow>() -> String {
    let (columns, arrays) =
        (each(R::COLUMNS, str::to_owned), each(R::COLUMNS, |_| ARRAY.to_owned()));
    let table = R::TABLE;
    format!("/* insert_{table} */ INSERT INTO {table} ({columns}) SELECT {arrays}")
}

/// Returns `UPDATE … SET … FROM (SELECT unnest(?) AS …) AS n WHERE …` with one array for each column.
pub(crate) fn update_all<R: StoredRow>() -> String {
    let Some((key, columns)) = R::COLUMNS.split_first() else { return String::new() };
    let (table, values) = (R::TABLE, each(columns, |column| format!("{column} = n.{column}")));
    let arrays = each(R::COLUMNS, |column| format!("{ARRAY} AS {column}"));
    format!(
        "/* update_{table} */ UPDATE {table} SET {values} FROM (SELECT {arrays}) AS n
         WHERE {table}.{key} = ANY (ARRAY[n.{key}])"
    )
}

/// Returns `UPDATE … SET … WHERE key = ?` for one row.
pub(crate) fn update_one<R: StoredRow>() -> String {
    let Some((key, columns)) = R::COLUMNS.split_first() else { return String::new() };
    let values = each(columns, |column| format!("{column} = ?"));
    let table = R::TABLE;
    format!("/* update_{table} */ UPDATE {table} SET {values} WHERE {key} = ?")
}

/// Like [`update_one`], but also increases the column `counter` by a value, which is the first parameter.
pub(crate) fn update_one_and_add<R: StoredRow>(counter: &str) -> String {
    update_one::<R>().replacen(" SET ", &format!(" SET {counter} = {counter} + ?, "), 1)
}

fn each(columns: &[&str], text: impl Fn(&str) -> String) -> String {
    columns.iter().map(|column| text(column)).collect::<Vec<_>>().join(", ")
}

const ARRAY: &str = "unnest(?)";

/// Declares a row that batches write: `struct Name in table { column: Type, … }`.
macro_rules! stored_row {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$life:lifetime>)? in $table:ident {
            $key:ident: $key_type:ty,
            $($column:ident: $type:ty,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        $vis struct $name $(<$life>)? {
            pub(crate) $key: $key_type,
            $(pub(crate) $column: $type,)+
        }

        impl<'row $(, $life)?> diesel::Insertable<$table::table> for &'row $name $(<$life>)? {
            type Values = <(
                $crate::query::row_types::Assignment<'row, $table::$key, $key_type>,
                $($crate::query::row_types::Assignment<'row, $table::$column, $type>,)+
            ) as diesel::Insertable<$table::table>>::Values;

            fn values(self) -> Self::Values {
                use diesel::ExpressionMethods as _;
                (
                    $table::$key.eq(&self.$key),
                    $($table::$column.eq(&self.$column),)+
                )
                    .values()
            }
        }

        impl $(<$life>)? $crate::query::row_types::StoredRow for $name $(<$life>)?
        $(where Self: $life)?
        {
            const TABLE: &'static str = stringify!($table);
            const COLUMNS: &'static [&'static str] =
                &[
                    <$table::$key as diesel::Column>::NAME,
                    $(<$table::$column as diesel::Column>::NAME),+
                ];

            fn bind_arrays<'rows, R>(
                rows: &'rows [Self],
                statement: $crate::query::statement::Statement<'rows, diesel::pg::Pg, R>,
            ) -> $crate::query::statement::Statement<'rows, diesel::pg::Pg, R> {
                statement
                    .bind_array::<diesel::dsl::SqlTypeOf<$table::$key>, _>(
                        rows.iter().map(|row| &row.$key),
                    )
                    $(.bind_array::<diesel::dsl::SqlTypeOf<$table::$column>, _>(
                        rows.iter().map(|row| &row.$column),
                    ))+
            }

            fn bind_key_last<'rows>(
                &'rows self,
                statement: $crate::query::statement::Statement<'rows, diesel::sqlite::Sqlite, ()>,
            ) -> $crate::query::statement::Statement<'rows, diesel::sqlite::Sqlite, ()> {
                statement
                    $(.bind::<diesel::dsl::SqlTypeOf<$table::$column>, _>(&self.$column))+
                    .bind::<diesel::dsl::SqlTypeOf<$table::$key>, _>(&self.$key)
            }

            fn insert_if_new(
                &self,
                conn: &mut diesel::SqliteConnection,
            ) -> diesel::QueryResult<usize> {
                use diesel::RunQueryDsl as _;
                let insert = diesel::insert_into($table::table).values(self);
                insert.on_conflict_do_nothing().execute(conn)
            }
        }
    };
}
pub(crate) use stored_row;

/// Declares a row that queries read: `struct Name from table { column: Type, … }`.
macro_rules! selected_row {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident from $table:ident { $($column:ident: $type:ty,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, diesel::Queryable)]
        $vis struct $name {
            $(pub(crate) $column: $type,)+
        }

        impl $crate::query::row_types::SelectedRow for $name {
            type Selection = ($($table::$column,)+);
            const SELECTION: Self::Selection = ($($table::$column,)+);
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column)),+];
        }
    };
}
pub(crate) use selected_row;
