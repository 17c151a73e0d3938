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

mod about;
mod accounts;
mod auditing;
mod backlogs;
mod badging;
mod channels;
mod claiming;
mod committing;
mod disabling;
mod facts;
mod fixture;
mod governing;
mod housekeeping;
mod issuing;
mod keys;
mod logging;
mod migrations;
mod owning;
mod postgres_only;
mod relying;
mod remembering;
mod reviving;
mod revoking;
mod rewrapping;
mod rotating;
mod sending;
mod settling;
mod sharing;
mod sqlite_only;
mod transactions;
mod waiting;
mod webhooks;
