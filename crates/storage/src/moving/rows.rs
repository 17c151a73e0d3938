//! Portions of the rows of any table, stored by column. A portion has a limited size.

use super::{
    cells::{Cell, SourceRow},
    error::MoveError,
    tables::{ColumnKind, MovedTable},
};
use crate::connection::query_error::QueryError;

/// The values of one column in a portion of rows.
pub(super) enum ColumnValues {
    Booleans(Vec<Option<bool>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Integers(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
}

/// A portion of the rows of a table, as columns.
pub(super) struct RowPortion {
    pub(super) columns: Vec<ColumnValues>,
    count: u64,
    bytes: usize,
}

impl RowPortion {
    pub(super) fn new(table: &MovedTable) -> Self {
        let empty = |kind: &ColumnKind| match kind {
            ColumnKind::Boolean => ColumnValues::Booleans(Vec::new()),
            ColumnKind::Bytes => ColumnValues::Bytes(Vec::new()),
            ColumnKind::Integer => ColumnValues::Integers(Vec::new()),
            ColumnKind::Text => ColumnValues::Texts(Vec::new()),
        };
        let columns = table.columns.iter().map(|column| empty(&column.kind)).collect();
        Self { columns, count: 0, bytes: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether the portion is full, so that no further row should be added.
    pub(super) fn is_full(&self) -> bool {
        self.count >= ROWS_MAX || self.bytes >= BYTES_MAX
    }

    /// Adds a row. Fails if a cell has another type than its column.
    pub(super) fn push(&mut self, table: &MovedTable, row: SourceRow) -> Result<(), QueryError> {
        self.count = self.count.saturating_add(1);
        for ((values, cell), column) in self.columns.iter_mut().zip(row.0).zip(&table.columns) {
            self.bytes = self.bytes.saturating_add(cell.len());
            if !values.push(cell) {
                return Err(QueryError::Refused(
                    MoveError::Mistyped { table: table.name.clone(), column: column.name.clone() }
                        .into(),
                ));
            }
        }
        Ok(())
    }
}

impl ColumnValues {
    /// Adds a cell. Returns `false` if the cell has another type than the column.
    fn push(&mut self, cell: Cell) -> bool {
        match (self, cell) {
            (Self::Booleans(values), Cell::Integer(0)) => values.push(Some(false)),
            (Self::Booleans(values), Cell::Integer(1)) => values.push(Some(true)),
            (Self::Booleans(values), Cell::Null) => values.push(None),
            (Self::Bytes(values), Cell::Bytes(bytes)) => values.push(Some(bytes)),
            (Self::Bytes(values), Cell::Null) => values.push(None),
            (Self::Integers(values), Cell::Integer(number)) => values.push(Some(number)),
            (Self::Integers(values), Cell::Null) => values.push(None),
            (Self::Texts(values), Cell::Text(text)) => values.push(Some(text)),
            (Self::Texts(values), Cell::Null) => values.push(None),
            _ => return false,
        }
        true
    }
}

/// Maximum number of rows in one portion.
const ROWS_MAX: u64 = 4096;
/// Number of bytes from which a portion is full. The last row of a portion may exceed this number.
const BYTES_MAX: usize = 4_194_304;
