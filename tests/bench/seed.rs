//! A database with identities that no plan holds back, made through the ports before the server starts.

use std::path::Path;

use sealpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, EnterpriseTerms, EventKind, KeyStatus, Label, Plan,
    Webhook, WebhookStatus, Session, Timestamp, WebhookId,
    ports::{Durability, Store, StoreError, Tx},
};
use sealpost_storage::{Database, DatabaseUrl, Settings};
use sealpost_wallet::{Identity, Keyring, LoginSecret, Root, SessionToken, WebhookSecret, random};

/// Who may send to whom.
pub(crate) struct Seeded {
    pub(crate) token: String,
    pub(crate) senders: Vec<String>,
    pub(crate) recipients: Vec<String>,
}

impl Seeded {
    /// Makes one account with eight senders and eight recipients that have one webhook each.
    pub(crate) fn make(folder: &Path, postgres: Option<&str>, receiver: &str, line: &str) -> Self {
        let kek = folder.join("kek");
        if !kek.exists() {
            std::fs::write(&kek, line.as_bytes()).expect("the key file can be written");
            restrict(&kek);
        }
        let keyring = Keyring::parse(line).expect("a fresh line is a key");
        let url: DatabaseUrl = match postgres {
            Some(url) => url.parse().expect("SEALPOST_BENCH_POSTGRES is a database's address"),
            None => DatabaseUrl::Sqlite(folder.join("sealpost.db")),
        };
        let database = Database::open(&url, Settings::default()).expect("the database opens");
        database.migrate().expect("the database can be migrated");
        let token = SessionToken::generate().expect("there is randomness");
        let account = account();
        let session =
            Session { token: token.hash(), account_id: account.id, expires_at: FAR_FUTURE };
        let senders: Vec<ApiKey> = (0..8).map(|_| key(&account, &keyring)).collect();
        let recipients: Vec<ApiKey> = (0..8).map(|_| key(&account, &keyring)).collect();
        let webhooks: Vec<Webhook> =
            recipients.iter().map(|key| webhook(key, &keyring, receiver)).collect();
        let store: &dyn Store = &database;
        store
            .write(Durability::Durable, |tx| {
                insert(tx, &account, &session, &[&senders[..], &recipients[..]].concat(), &webhooks)
            })
            .expect("the database can be filled");
        let ids = |keys: &[ApiKey]| keys.iter().map(|key| key.id.to_string()).collect();
        Self {
            token: token.expose().to_owned(),
            senders: ids(&senders),
            recipients: ids(&recipients),
        }
    }
}

fn insert(
    tx: &mut dyn Tx,
    account: &Account,
    session: &Session,
    keys: &[ApiKey],
    webhooks: &[Webhook],
) -> Result<(), StoreError> {
    tx.insert_account(account)?;
    tx.insert_session(session)?;
    for key in keys {
        tx.insert_key(key)?;
    }
    for webhook in webhooks {
        tx.insert_webhook(webhook)?;
    }
    Ok(())
}

fn account() -> Account {
    let secret = LoginSecret::generate().expect("there is randomness");
    let id = AccountId::new(PAST, random().expect("there is randomness"));
    Account { id, login_secret: secret.hash(), created_at: PAST }
}

fn key(account: &Account, keyring: &Keyring) -> ApiKey {
    let id = ApiKeyId::new(PAST, random().expect("there is randomness"));
    let root = Root::generate().expect("there is randomness");
    let terms = EnterpriseTerms {
        per_minute: u32::MAX,
        per_day: u32::MAX,
        per_month: u32::MAX,
        per_second: 1_000_000,
        allow_overage: false,
    };
    ApiKey {
        id,
        account_id: account.id,
        label: Label::parse("bench").expect("a sane label"),
        handle: None,
        root: Some(root.wrap(keyring, &id).expect("the key-encryption key is there")),
        did: Identity::new(root).expect("a root makes an identity").did(),
        status: KeyStatus::Active,
        plan: Plan::Enterprise(terms),
        sealing_version: 1,
        created_at: PAST,
    }
}

fn webhook(key: &ApiKey, keyring: &Keyring, receiver: &str) -> Webhook {
    let id = WebhookId::new(PAST, random().expect("there is randomness"));
    let secret = WebhookSecret::generate().expect("there is randomness");
    Webhook {
        id,
        api_key_id: key.id,
        url: receiver.to_owned(),
        events: vec![EventKind::EnvelopeReceived],
        secret: secret.wrap(keyring, &id).expect("the key-encryption key is there"),
        retiring: Vec::new(),
        status: WebhookStatus::Enabled,
        disabled_reason: None,
        failing_since: None,
        created_at: PAST,
        last_success_at: None,
        last_failure: None,
    }
}

fn restrict(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))
        .expect("the key file is ours");
}

const PAST: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const FAR_FUTURE: Timestamp = Timestamp::from_millis(i64::MAX);
