//! One suite of cases for both databases.

/// Makes a test of each case on SQLite and on PostgreSQL.
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

mod accounts;
mod auditing;
mod claiming;
mod facts;
mod fixture;
mod governing;
mod housekeeping;
mod keys;
mod migrations;
mod owning;
mod postgres_only;
mod registrations;
mod remembering;
mod revoking;
mod rewrapping;
mod sending;
mod settling;
mod sqlite_only;
mod transactions;
mod waiting;
