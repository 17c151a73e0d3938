//! Rows of any table: portions of rows, column by column, and checksums that do not depend on the order of rows.

use sha2::{Digest as _, Sha256};

use super::{
    MoveFault,
    cells::{Cell, SourceRow},
    tables::{ColumnKind, MovedTable},
};
use crate::connection::fault::Fault;

/// The number of rows of a table, and the sum of the hashes of its rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TableSum {
    pub(super) rows: u64,
    sum: [u64; 4],
}

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

impl TableSum {
    /// Adds a row with this hash.
    pub(super) fn add(&mut self, hash: [u64; 4]) {
        self.rows = self.rows.saturating_add(1);
        for (sum, part) in self.sum.iter_mut().zip(hash) {
            *sum = sum.wrapping_add(part);
        }
    }
}

impl RowPortion {
    pub(super) fn of(table: &MovedTable) -> Self {
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

    /// Whether no further row should be added.
    pub(super) fn is_full(&self) -> bool {
        self.count >= ROWS_MAX || self.bytes >= BYTES_MAX
    }

    /// Adds a row. Fails if a cell has another type than its column.
    pub(super) fn push(&mut self, table: &MovedTable, row: SourceRow) -> Result<(), Fault> {
        self.count = self.count.saturating_add(1);
        for ((values, cell), column) in self.columns.iter_mut().zip(row.0).zip(&table.columns) {
            self.bytes = self.bytes.saturating_add(cell.len());
            if !values.push(cell) {
                return Err(Fault::Refused(
                    MoveFault::Mistyped { table: table.name.clone(), column: column.name.clone() }
                        .into(),
                ));
            }
        }
        Ok(())
    }
}

impl ColumnValues {
    /// Adds a cell. Returns `false` if the cell has another type.
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

/// Hashes the cells of one row. Each cell begins with its type and its length, so that no two rows have the same bytes.
#[derive(Default)]
pub(super) struct RowHasher(Sha256);

impl RowHasher {
    pub(super) fn null(&mut self) {
        self.0.update([0]);
    }

    pub(super) fn integer(&mut self, number: i64) {
        self.0.update([1]);
        self.0.update(number.to_be_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update([2]);
        self.0.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> [u64; 4] {
        let hash: [u8; 32] = self.0.finalize().into();
        let (parts, _rest) = hash.as_chunks::<8>();
        let mut numbers = parts.iter().map(|part| u64::from_be_bytes(*part));
        std::array::from_fn(|_| numbers.next().unwrap_or_default())
    }
}

/// Maximum number of rows in one portion.
const ROWS_MAX: u64 = 4096;
/// Number of bytes after which a portion is full. One row more may cross it.
const BYTES_MAX: usize = 4_194_304;

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(cells: &[&[u8]]) -> [u64; 4] {
        let mut hasher = RowHasher::default();
        cells.iter().for_each(|cell| hasher.bytes(cell));
        hasher.finish()
    }

    fn sum(rows: &[[u64; 4]]) -> TableSum {
        let mut sum = TableSum::default();
        rows.iter().for_each(|row| sum.add(*row));
        sum
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_every_other_difference_does() {
        let (first, second) = (hash(&[b"a", b"b"]), hash(&[b"ab", b""]));
        assert_eq!(sum(&[first, second]), sum(&[second, first]));
        for other in [&[first][..], &[first, first], &[first, second, second], &[second, second]] {
            assert_ne!(sum(&[first, second]), sum(other));
        }
        let mut null = RowHasher::default();
        null.null();
        assert_ne!(null.finish(), hash(&[b""]));
    }
}
