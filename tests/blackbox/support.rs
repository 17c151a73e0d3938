//! What the cases share: the server under test, a client, a receiver, and the two databases.

mod authority;
mod client;
mod database;
mod languages;
mod listener;
mod operator;
mod process;
mod receiver;
mod server;

use std::{
    thread,
    time::{Duration, Instant},
};

pub(crate) use authority::{Authority, Issued};
pub(crate) use client::{
    Answer, Client, Identity, Request,
    browser::{Browser, sign_in},
    load::Pairs,
    raw::{answer_on, connect, exchange, status_of, talk},
    text,
};
pub(crate) use database::Database;
pub(crate) use languages::{
    go, node_folder,
    oracle::{Verifier, browse, chromium},
    pinned, python, root, run_node, rust_example,
};
pub(crate) use listener::{Listener, private_file};
pub(crate) use process::{AttemptSummary, Process, binary, is_empty, postgres_tool, run};
pub(crate) use receiver::{
    Notice, Reaction, Receiver,
    signed::{PUBLIC_KEY, Signed},
    tls::TlsReceiver,
};
pub(crate) use server::{Server, lines_of, value_of};

/// Runs each case once on the embedded database and once on PostgreSQL.
macro_rules! on_both {
    ($($case:ident),+ $(,)?) => {
        mod embedded {
            $(#[test] fn $case() { super::$case(&crate::support::Database::embedded()); })+
        }
        mod postgres {
            $(#[test] fn $case() { super::$case(&crate::support::Database::postgres()); })+
        }
    };
}
pub(crate) use on_both;

/// Looks until there is something to see, and fails when that takes too long.
#[track_caller]
pub(crate) fn eventually<T>(
    what: &str,
    within: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let until = Instant::now() + within;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "not within {within:?}: {what}");
        thread::sleep(POLL_EVERY);
    }
}

/// What `run` gave when no minute of UTC ended during it; a minute that did starts it anew. So `run` uses identities
/// of its own, and what it gives is judged afterwards.
pub(crate) fn within_one_minute<T>(mut run: impl FnMut() -> T) -> T {
    loop {
        let began = minute();
        let given = run();
        if minute() == began {
            return given;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server under test asks the same clock")]
fn minute() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_secs() / 60
}

/// Long enough for a busy machine; a case that holds takes far less.
pub(crate) const SOON: Duration = Duration::from_secs(20);
pub(crate) const POLL_EVERY: Duration = Duration::from_millis(10);
