//! Measures the free space for the SQLite database: on the disk, and in unused pages of the file.

use std::{fs::metadata, path::Path};

use diesel::{dsl::sql, prelude::*, sql_types::BigInt};
use rustix::process::{Resource, getrlimit};

use crate::{
    connection::{AnyConnection, query_error::QueryError},
    owned_file::with_suffix,
    rows::columns,
};

/// Returns the free bytes of the disk that contains `file`, without the space that is reserved for root.
pub(crate) fn free_bytes(file: &Path) -> Result<u64, rustix::io::Errno> {
    let disk = rustix::fs::statvfs(file)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns whether an SQLite database or its write-ahead log has reached the maximum file size (`ulimit -f`) of this
/// process.
pub(crate) fn has_reached_size_limit(file: &Path) -> bool {
    let Some(limit) = getrlimit(Resource::Fsize).current else { return false };
    let has_reached = |path: &Path| metadata(path).is_ok_and(|found| found.len() >= limit);
    has_reached(file) || has_reached(&with_suffix(file, "-wal"))
}

/// Returns the bytes of unused pages inside an SQLite database; 0 for PostgreSQL. SQLite uses these pages before the
/// file grows, and never returns them to the disk.
pub(crate) fn reusable_bytes(conn: &mut AnyConnection) -> Result<u64, QueryError> {
    let AnyConnection::Sqlite(conn) = conn else { return Ok(0) };
    let bytes: i64 = diesel::select(sql::<BigInt>(REUSABLE)).get_result(conn)?;
    columns::number(bytes, "number of unused pages")
}

/// Returns true if less than `min` bytes are available: `free` bytes on the disk plus `reusable` bytes inside the
/// database.
///
/// Also returns true if less than a quarter of `min` is free on the disk: the write-ahead log needs space on the disk,
/// and cannot use the reusable pages.
pub(crate) fn is_short(min: u64, free: u64, reusable: u64) -> bool {
    free < min / 4 || free.saturating_add(reusable) < min
}

const REUSABLE: &str = "/* disk_space.reusable */ (
    SELECT f.freelist_count * s.page_size
    FROM pragma_freelist_count AS f, pragma_page_size AS s)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reusable_pages_count_while_the_log_has_room_on_the_disk() {
        for (free, reusable, short) in [
            (100, 0, false),
            (99, 0, true),
            (99, 1, false),
            (25, 75, false),
            (25, 74, true),
            (24, 1000, true),
            (u64::MAX, u64::MAX, false),
        ] {
            assert_eq!(is_short(100, free, reusable), short, "{free} free, {reusable} reusable");
        }
        assert!(!is_short(0, 0, 0));
    }
}
