//! Embeds Sealpost in another Rust program: no HTTP, the same use cases, the same guarantees.
//!
//! `cargo run -p sealpost-service --example embed`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]
#![expect(clippy::disallowed_methods, reason = "an embedder brings the clock")]

use std::{
    error::Error,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use sealpost_domain::{Clock, Did, Handle, Label, Timestamp};
use sealpost_service::{
    Activate, Credentials, Issuer, Login, Parts, Sealpost, Send, Settings, built_in_circuits,
    unlock,
};
use sealpost_storage::{Database, DatabaseUrl, Settings as DatabaseSettings};
use sealpost_wallet::Keyring;
use sealpost_webhooks::{AddressGuard, AddressPolicy, Dispatcher, Settings as WebhookSettings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let sealpost = start(&folder.path().join("sealpost.db"))?;
    let alice = activate(&sealpost, "Alice", None)?;
    let bob = activate(&sealpost, "Bob", Some("bob"))?;

    let message = Send {
        to: "@bob".to_owned(),
        message: "Meet me at noon.".to_owned(),
        idempotency_key: None,
    };
    let sent = sealpost.send(&alice, Ok(message)).await.result?;
    println!("stored {} with {}", sent.envelope_id, sent.envelope_hash);

    let opened = sealpost.open(&bob, &Ok(sent.envelope_id.to_string())).result?;
    println!("{} wrote: {}", opened.sender, opened.message);
    sealpost.stop();
    Ok(())
}

/// The parts that this program chooses: an embedded database, a dispatcher, and a key-encryption key of its own.
fn start(file: &std::path::Path) -> Result<Sealpost, Box<dyn Error>> {
    let database =
        Database::open(&DatabaseUrl::Sqlite(file.to_owned()), DatabaseSettings::default())?;
    database.migrate()?;
    let keyring = Arc::new(Keyring::parse(&Keyring::fresh_line(1)?)?);
    unlock(&keyring, &database)?;
    let database = Arc::new(database);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let outbox = Arc::clone(&database);
    let dispatcher = Dispatcher::start(
        WebhookSettings::default(),
        outbox,
        Arc::clone(&keyring),
        Arc::clone(&clock),
        None,
    )?;
    let issuer = Issuer::open(
        Arc::<Database>::clone(&database),
        Arc::clone(&keyring),
        Arc::clone(&clock),
        Did::web("seal.example.org", ""),
    )?;
    let parts = Parts {
        issuer: Arc::new(issuer),
        base_url: "https://seal.example.org".to_owned(),
        circuits: built_in_circuits()?,
        store: database,
        dispatch: Arc::new(dispatcher),
        guard: Arc::new(AddressGuard::new(AddressPolicy::default())),
        keyring,
        clock,
    };
    Ok(Sealpost::start(parts, Settings::default())?)
}

fn activate(
    sealpost: &Sealpost,
    label: &str,
    handle: Option<&str>,
) -> Result<Credentials, Box<dyn Error>> {
    let identity =
        Activate { label: Label::parse(label)?, handle: handle.map(Handle::parse).transpose()? };
    let activated = sealpost.activate(None, Ok(identity))?;
    let session = sealpost.login(&Login {
        account_id: activated.account_id.to_string(),
        login_secret: activated.login_secret.ok_or("a new account has a login secret")?,
    })?;
    let key = Ok(Some(activated.api_key_id.to_string()));
    Ok(Credentials { token: Some(session.session_token), key })
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
