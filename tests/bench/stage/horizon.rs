//! What keeps old row versions: a session with an open snapshot, like a dump or a report, or a replication slot.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use clap::ValueEnum;
use diesel::{PgConnection, RunQueryDsl as _, SqliteConnection, connection::SimpleConnection as _};

use crate::stage::{database::Place, postgres};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Holder {
    /// An open transaction that has read, on either database
    Transaction,
    /// `pg_dump`, repeatedly
    Dump,
    /// Nothing, to see what the growth of the tables costs
    None,
    /// A logical replication slot that nobody reads
    Slot,
}

/// A held horizon. Dropping it releases the horizon.
pub(crate) enum Held {
    None,
    Postgres { _transaction: PgConnection },
    Sqlite { _transaction: SqliteConnection },
    Dump { is_over: Arc<AtomicBool>, thread: Option<JoinHandle<()>> },
    Slot { url: String },
}

impl Place {
    pub(crate) fn hold(&self, holder: Holder) -> Held {
        let Some(url) = self.postgres_url() else {
            if holder == Holder::None {
                return Held::None;
            }
            assert!(holder == Holder::Transaction, "SQLite has only transactions");
            let mut conn = self.sqlite();
            let begin = "BEGIN; SELECT count(*) FROM usage";
            conn.batch_execute(begin).expect("the query succeeds");
            return Held::Sqlite { _transaction: conn };
        };
        let mut conn = postgres::connect(url);
        match holder {
            Holder::None => Held::None,
            Holder::Transaction => {
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM usage";
                conn.batch_execute(begin).expect("the query succeeds");
                Held::Postgres { _transaction: conn }
            }
            Holder::Dump => dumps(url),
            Holder::Slot => {
                let create = "SELECT pg_create_logical_replication_slot('idle', 'test_decoding')";
                conn.batch_execute(create).expect("the server has wal_level = logical");
                Held::Slot { url: url.to_owned() }
            }
        }
    }
}

/// Starts dumps, one after the other.
fn dumps(url: &str) -> Held {
    let is_over = Arc::new(AtomicBool::new(false));
    let (url, ends) = (url.to_owned(), Arc::clone(&is_over));
    let dump = move || {
        while !ends.load(Ordering::Relaxed) {
            let dump = Command::new("pg_dump").args(["--file", "/dev/null", &url]).status();
            assert!(dump.is_ok_and(|status| status.success()), "pg_dump fails");
        }
    };
    Held::Dump { is_over, thread: Some(thread::spawn(dump)) }
}

impl Drop for Held {
    fn drop(&mut self) {
        match self {
            Self::None | Self::Postgres { .. } | Self::Sqlite { .. } => {}
            Self::Dump { is_over, thread } => {
                is_over.store(true, Ordering::Relaxed);
                let ended = thread.take().map(JoinHandle::join);
                assert!(ended.is_none_or(|ended| ended.is_ok()), "the dumps succeed");
            }
            Self::Slot { url } => {
                let drop = diesel::sql_query("SELECT pg_drop_replication_slot('idle')");
                drop.execute(&mut postgres::connect(url)).expect("the slot exists");
            }
        }
    }
}
