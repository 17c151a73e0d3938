//! Tests of the storage. Most cases run on both databases.

/// Declares a test of each case on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(#[test] fn $case() { super::$case(&$crate::tests::fixture::sqlite()); })*
        }
        mod postgres {
            $(#[test] fn $case() { super::$case(&$crate::tests::fixture::postgres()); })*
        }
    };
}

mod account;
mod connection;
mod disk_space;
mod fixture;
mod housekeeping;
mod kek_rotation;
mod lock_order;
mod migrations;
mod moving;
mod queue;
mod records;
mod send;
mod statement_names;
