//! One address that fills the disk within its limits: new accounts and large messages.

use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    adversary::{
        Outcome, Trial,
        arena::Ground,
        client::{Client, Response},
        table::Figure,
    },
    stage::identities::Member,
    wire::post,
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let arena = Ground::new(trial.engine).serve();
    let alone = arena.watch_alone(trial);
    let client = Client { server: arena.server.address, address: Ipv4Addr::LOCALHOST, tls: None };
    let accounts: Vec<_> = (0..trial.pick(40, 4)).filter_map(|_| open_account(&client)).collect();
    let (is_over, stored) = (AtomicBool::new(false), AtomicU32::new(0));
    let attacked = thread::scope(|scope| {
        for part in accounts.chunks(accounts.len().div_ceil(THREADS).max(1)) {
            scope.spawn(|| send_large(&client, part, &is_over, &stored));
        }
        let attacked = arena.watch(trial.attacked());
        is_over.store(true, Ordering::Relaxed);
        attacked
    });
    let stored_bytes = f64::from(stored.into_inner()) * f64::from(MESSAGE_BYTES);
    let figures = vec![
        Figure { what: "new accounts", value: accounts.len().to_string() },
        Figure { what: "MiB stored", value: format!("{:.0}", stored_bytes / 1024.0 / 1024.0) },
    ];
    Outcome { alone, attacked, figures }
}

/// Opens an account with one key and a session. Returns `None` if the server refuses.
fn open_account(client: &Client) -> Option<Member> {
    let activated = ask(client, "/v1/did/activate", r#"{"label":"filler"}"#)?;
    let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
    let account_id = text(&activated, "account_id")?;
    let login_secret = text(&activated, "login_secret")?;
    let login = format!(r#"{{"account_id":"{account_id}","login_secret":"{login_secret}"}}"#);
    let session = ask(client, "/v1/auth/login", &login)?;
    Some(Member {
        key: text(&activated, "api_key_id")?.parse().ok()?,
        token: text(&session, "session_token")?.into(),
        webhook: None,
    })
}

/// Sends large messages from the accounts in turn, each to itself, until the run is over. Counts stored messages.
fn send_large(client: &Client, accounts: &[Member], is_over: &AtomicBool, stored: &AtomicU32) {
    let message = "x".repeat(usize::try_from(MESSAGE_BYTES).expect("32 bits"));
    for account in accounts.iter().cycle() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let body = format!(r#"{{"to":"{}","message":"{message}"}}"#, account.key);
        let response = client.ask(&account.send(&body));
        let is_stored = response.is_ok_and(|response| response.status == 200);
        stored.fetch_add(is_stored.into(), Ordering::Relaxed);
        thread::sleep(PAUSE);
    }
}

/// Returns the body of a response with status 200.
fn ask(client: &Client, path: &str, body: &str) -> Option<Value> {
    let Response { status: 200, body } = client.ask(&post(path, "", body)).ok()? else {
        return None;
    };
    serde_json::from_slice(&body).ok()
}

/// Almost the default of `--max-message-bytes`.
const MESSAGE_BYTES: u32 = 250_000;
const THREADS: usize = 4;
/// Gives at most 40 messages a second from all threads together.
const PAUSE: Duration = Duration::from_millis(100);
