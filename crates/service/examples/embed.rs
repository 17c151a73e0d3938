//! Embeds Sealpost in a Rust program, without HTTP.
//!
//! `cargo run -p sealpost-service --example embed`
#![expect(clippy::print_stdout, reason = "an example prints its results")]
#![expect(clippy::disallowed_methods, reason = "an embedder provides the clock")]

use std::{
    error::Error,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use sealpost_domain::{Clock, Did, Handle, Label, RequestSource, Timestamp};
use sealpost_service::{
    Access, Activate, Caller, Credentials, Issuer, KeyNamed, Login, NewMessage, Parts, Sealpost,
    SendContext, Settings, built_in_circuits, unlock,
};
use sealpost_storage::{Database, DatabaseUrl, Settings as DatabaseSettings};
use sealpost_wallet::Keyring;
use sealpost_webhooks::{AddressGuard, AddressPolicy, Dispatcher, Settings as WebhookSettings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let sealpost = start(&folder.path().join("sealpost.db"))?;
    let alice = activate(&sealpost, "Alice", None).await?;
    let bob = activate(&sealpost, "Bob", Some("bob")).await?;

    let (to, message) = ("@bob".to_owned(), "Meet me at noon.".to_owned());
    let sent = sealpost
        .sending
        .send(
            &alice,
            NewMessage {
                to,
                message,
                context: SendContext::default(),
                trace: None,
                idempotency_key: None,
            },
        )
        .await
        .result?;
    println!("stored {} with {}", sent.message.envelope_id, sent.message.envelope_hash);

    let opened =
        sealpost.mailbox.open(&bob, sent.message.envelope_id.to_string(), None).await.result?;
    println!("{} wrote: {}", opened.sender, opened.message);
    sealpost.stop();
    Ok(())
}

/// Creates an account with one identity, logs in, and authenticates.
async fn activate(
    sealpost: &Sealpost,
    label: &str,
    handle: Option<&str>,
) -> Result<Caller, Box<dyn Error>> {
    let handle = handle.map(Handle::parse).transpose()?;
    let identity = Activate { label: Label::parse_new(label)?, handle, invite: None };
    let activated = sealpost.accounts.activate(None, identity, RequestSource::default()).await?;
    let account_id = activated.account_id.to_string();
    let login_secret = activated.login_secret.ok_or("a new account has a login secret")?;
    let session = sealpost
        .accounts
        .login(Login { account_id, login_secret, on_dashboard: false }, RequestSource::default())
        .await?;
    let key = KeyNamed::Key(activated.api_key_id.to_string());
    let credentials = Credentials { token: Some(session.session_token), key };
    Ok(sealpost.authenticate(&credentials, Access::Session).await?)
}

/// Chooses the parts: an embedded database, a dispatcher, and a new key-encryption key.
fn start(file: &Path) -> Result<Sealpost, Box<dyn Error>> {
    let url = DatabaseUrl::Sqlite(file.to_owned());
    let database = Arc::new(Database::open(&url, DatabaseSettings::default())?);
    database.migrate()?;
    let keyring = Arc::new(Keyring::parse(&Keyring::fresh_line(1)?)?);
    unlock(&keyring, &database)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let dispatcher = Dispatcher::start(
        WebhookSettings::default(),
        Arc::<Database>::clone(&database),
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

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
