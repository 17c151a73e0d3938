//! What keeps old row versions: a session with an open snapshot, like a dump or a report, or a replication slot.

use std::{
    io::Read as _,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
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
    /// `pg_dump`, repeatedly, through a pipe that takes 16 MiB a second
    PacedDump,
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
            Holder::Dump => dumps(url, dump),
            Holder::PacedDump => dumps(url, paced_dump),
            Holder::Slot => {
                let create = "SELECT pg_create_logical_replication_slot('idle', 'test_decoding')";
                conn.batch_execute(create).expect("the server has wal_level = logical");
                Held::Slot { url: url.to_owned() }
            }
        }
    }
}

/// Starts dumps, one after the other.
fn dumps(url: &str, dump: fn(&str, &AtomicBool)) -> Held {
    let is_over = Arc::new(AtomicBool::new(false));
    let (url, ends) = (url.to_owned(), Arc::clone(&is_over));
    let dumps = move || {
        while !ends.load(Ordering::Relaxed) {
            dump(&url, &ends);
        }
    };
    Held::Dump { is_over, thread: Some(thread::spawn(dumps)) }
}

fn dump(url: &str, _is_over: &AtomicBool) {
    let dump = Command::new("pg_dump").args(["--file", "/dev/null", url]).status();
    assert!(dump.is_ok_and(|status| status.success()), "pg_dump fails");
}

/// Reads a dump with pauses, like `pg_dump | pv --rate-limit 16m`. Ends the dump early when `is_over` is set.
fn paced_dump(url: &str, is_over: &AtomicBool) {
    let dump = Command::new("pg_dump").arg(url).stdout(Stdio::piped()).spawn();
    let mut dump = dump.expect("pg_dump is installed");
    let mut output = dump.stdout.take().expect("the output is a pipe");
    let mut portion = vec![0; PIPE_LEN];
    while !is_over.load(Ordering::Relaxed) {
        if output.read(&mut portion).expect("the pipe is readable") == 0 {
            assert!(dump.wait().is_ok_and(|status| status.success()), "pg_dump fails");
            return;
        }
        thread::sleep(PIPE_PAUSE);
    }
    dump.kill().and_then(|()| dump.wait()).expect("the dump ends");
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

/// A pipe of Linux holds 64 KiB. A full pipe every 4 ms is 16 MiB a second.
const PIPE_LEN: usize = 64 * 1024;
const PIPE_PAUSE: Duration = Duration::from_millis(4);
