//! Checksums of tables, which do not depend on the order of rows.

use sha2::{Digest as _, Sha256};

/// The number of rows of a table, and the sum of the hashes of its rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TableSum {
    pub(super) rows: u64,
    sum: [u64; 4],
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

/// Hashes the cells of one row. The hashed bytes of a cell begin with its type. For a text or binary value, the length
/// follows. Two different rows therefore never give the same bytes to hash.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(cells: &[&[u8]]) -> [u64; 4] {
        let mut hasher = RowHasher::default();
        for cell in cells {
            hasher.bytes(cell);
        }
        hasher.finish()
    }

    fn sum(rows: &[[u64; 4]]) -> TableSum {
        let mut sum = TableSum::default();
        for row in rows {
            sum.add(*row);
        }
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
