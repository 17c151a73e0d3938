//! Shared support: the server under test, a client, a receiver, and the two databases.

mod authority;
mod client;
pub(crate) mod console;
mod database;
mod languages;
mod listener;
mod operator;
mod process;
mod receiver;
#[cfg(feature = "postgres-tls")]
mod relay;
mod server;
mod small_disk;
mod socket;
mod witness;

use std::{
    thread,
    time::{Duration, Instant},
};

pub(crate) use authority::{Authority, Issued};
pub(crate) use client::{
    Client, Identity, Request, Response,
    browser::{Browser, sign_in},
    has,
    load::Pairs,
    only_one,
    raw::{connect, exchange, read_to_end, response_on, status_of, talk},
    text, token_body,
};
pub(crate) use database::Database;
pub(crate) use languages::{
    go, node_folder,
    oracle::{
        Verifier, ask_node, ask_python, browse, chromium, read_did_document, run_in_browser,
        search_documentation,
    },
    pinned, python, root, rust_example,
};
pub(crate) use listener::{Listener, private_file};
pub(crate) use process::{CommandResult, Process, binary, is_empty, postgres_tool, run, within};
pub(crate) use receiver::{
    Reaction, Receiver, WebhookRequest,
    signed::{PUBLIC_KEY, Signed},
    tls::TlsReceiver,
};
#[cfg(feature = "postgres-tls")]
pub(crate) use relay::Relay;
pub(crate) use server::{Server, lines_of, value_of};
pub(crate) use small_disk::SmallDisk;
pub(crate) use socket::Socket;
pub(crate) use witness::Witness;

/// Runs each case on the embedded database and on PostgreSQL.
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

/// Runs each case on the embedded database only, because its result does not depend on the database. Examples: requests
/// that are refused before a transaction, pages, forms, limits in memory, and third-party programs. The tests of the
/// crate `storage` run the statements behind them on both databases. A case about transactions, access, idempotency,
/// counting, queues or several nodes belongs in `on_both`.
macro_rules! on_embedded {
    ($($case:ident),+ $(,)?) => {
        mod on_embedded {
            $(#[test] fn $case() { super::$case(&crate::support::Database::embedded()); })+
        }
    };
}
pub(crate) use on_embedded;

/// Polls `look` until it returns a value. Panics after `within`. The pauses grow with the elapsed time, so that
/// [`SOON`] contains about 20 polls. More polls could exceed the limit of a new key, 20 requests per minute. To exceed
/// a limit on purpose, use [`until_limited`].
#[track_caller]
pub(crate) fn eventually<T>(
    what: &str,
    within: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        let elapsed = began.elapsed();
        assert!(elapsed < within, "not within {within:?}: {what}");
        thread::sleep(POLL_EVERY.max(elapsed / 2));
    }
}

/// Polls until `is_true` is true. Panics after [`SOON`].
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    eventually(what, SOON, || is_true().then_some(()));
}

/// Repeats a request without pauses until a limit rejects it, and returns the rejection. Limits per second and per
/// minute under test are at most 20, so this many requests exceed them even if a minute ends in between.
#[track_caller]
pub(crate) fn until_limited(mut request: impl FnMut() -> Response) -> Response {
    let mut responses = (0..45).map(|_| request());
    responses.find(|response| response.status == 429).expect("a limit is reached")
}

/// Returns the result of `run` if it ended within one minute of UTC, otherwise repeats `run`. Rate limits
/// reset each minute. Each run must create its own identities, and its result must be checked afterwards.
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

/// Runs `run` at the same time with each number below `count`, and returns the results.
pub(crate) fn at_once<T: Send>(count: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let run = &run;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|nth| scope.spawn(move || run(nth))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Checks that exactly `count` of these requests succeeded, and that the others were refused with this status and code.
#[track_caller]
pub(crate) fn check_winners(responses: &[Response], count: usize, (status, code): (u16, &str)) {
    let (won, lost): (Vec<_>, Vec<_>) =
        responses.iter().partition(|response| response.status == 200);
    assert_eq!(won.len(), count);
    for refused in lost {
        refused.refused(status, code);
    }
}

/// The longest wait for a result on a busy machine. Passing cases take much less time.
pub(crate) const SOON: Duration = Duration::from_secs(20);
pub(crate) const POLL_EVERY: Duration = Duration::from_millis(10);
