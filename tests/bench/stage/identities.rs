//! Senders and recipients: accounts, sessions, keys and webhooks, created through the ports before a server
//! starts.

use std::sync::Arc;

use sealpost_domain::{
    Account, AccountId, AccountSecrets, ApiKey, ApiKeyId, EnterpriseTerms, EventKind, KeyStatus,
    Label, OwnedKey, Plan, RequestSource, Session, Timestamp, Webhook, WebhookId, WebhookStatus,
    ports::{Durability, StoreError},
};
use sealpost_storage::{Database, Transaction};
use sealpost_wallet::{Identity, Keyring, LoginSecret, Root, SessionToken, random};

use crate::{
    stage::{database::Place, receiver::Receiver},
    wire::post,
};

/// The number of senders and recipients.
#[derive(Clone, Copy)]
pub(crate) struct Population {
    pub(crate) senders: usize,
    /// Recipients. Each has one webhook with its own target.
    pub(crate) recipients: usize,
    /// The plan of the senders.
    pub(crate) plan: Plan,
}

/// An account with keys on one plan. Each key has as many webhooks.
#[derive(Clone, Copy)]
pub(crate) struct Tenant {
    pub(crate) keys: usize,
    pub(crate) webhooks_of_key: usize,
    pub(crate) plan: Plan,
}

impl Tenant {
    /// Creates the account. Each webhook has its own target of the receiver.
    pub(crate) fn activate(self, place: &Place, receiver: &Receiver) -> Vec<Member> {
        let (database, keyring) = (place.open(), place.keyring());
        let store: &Database = &database;
        let members = store.write(Durability::Durable, |tx| {
            let account = open_account(tx)?;
            let mut members = Vec::new();
            for number in 0..self.keys {
                let mut member = insert_key(tx, account.clone(), &keyring, self.plan)?;
                let first = number * self.webhooks_of_key;
                for target in first..first + self.webhooks_of_key {
                    let webhook = webhook(member.key, &keyring, receiver, target);
                    tx.insert_webhook(&webhook)?;
                    member.webhook = Some(webhook);
                }
                members.push(member);
            }
            Ok::<_, StoreError>(members)
        });
        members.expect("the database can be filled")
    }

    /// Returns the number of targets that a receiver needs.
    pub(crate) const fn targets(self) -> usize {
        self.keys * self.webhooks_of_key
    }
}

#[derive(Clone)]
pub(crate) struct Identities {
    pub(crate) senders: Vec<Member>,
    pub(crate) recipients: Vec<Member>,
}

/// A key with a session.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) key: ApiKeyId,
    pub(crate) token: Arc<str>,
    /// The newest webhook of the key, if it has one.
    pub(crate) webhook: Option<Webhook>,
}

impl Population {
    /// Many senders and recipients on a plan without effective limits.
    pub(crate) const MANY: Self =
        Self { senders: 256, recipients: 256, plan: unbounded(1_000_000) };

    /// Creates all identities.
    pub(crate) fn activate(self, place: &Place, receiver: &Receiver) -> Identities {
        let mut factory = KeyFactory::of(place);
        let (database, keyring) = (place.open(), place.keyring());
        let store: &Database = &database;
        let identities = store.write(Durability::Durable, |tx| {
            let senders = (0..self.senders).map(|_| factory.add(tx, self.plan));
            let senders = senders.collect::<Result<_, _>>()?;
            let mut recipients = Vec::new();
            for number in 0..self.recipients {
                let mut recipient = factory.add(tx, Plan::Explorer)?;
                let webhook = webhook(recipient.key, &keyring, receiver, number);
                tx.insert_webhook(&webhook)?;
                recipient.webhook = Some(webhook);
                recipients.push(recipient);
            }
            Ok::<_, StoreError>(Identities { senders, recipients })
        });
        identities.expect("the database can be filled")
    }
}

impl Identities {
    /// Returns sends of this message size, from each sender to each recipient in turn.
    pub(crate) fn sends(&self, message_bytes: usize) -> Arc<Vec<Vec<u8>>> {
        let message = "x".repeat(message_bytes);
        let request = |number: usize| {
            let round = number / self.senders.len();
            let sender = self.senders.get(number % self.senders.len()).expect("within");
            let recipient = (number + 17 * round) % self.recipients.len();
            let recipient = self.recipients.get(recipient).expect("within");
            sender.send(&format!(r#"{{"to":"{}","message":"{message}"}}"#, recipient.key))
        };
        Arc::new((0..PAIRS.max(self.recipients.len())).map(request).collect())
    }
}

impl Member {
    /// Returns `POST /v1/channel/send` with this body.
    pub(crate) fn send(&self, body: &str) -> Vec<u8> {
        self.post("/v1/channel/send", body)
    }

    /// Returns a POST request of the key.
    pub(crate) fn post(&self, path: &str, body: &str) -> Vec<u8> {
        let headers =
            format!("Authorization: Bearer {}\r\nX-DID-API-Key: {}\r\n", self.token, self.key);
        post(path, &headers, body)
    }
}

/// Turns the webhooks of these members into relays, before a server starts.
pub(crate) fn make_relays(place: &Place, members: &[&Member]) {
    let id = |member: &&Member| Some(format!("'{}'", member.webhook.as_ref()?.id));
    let ids = members.iter().filter_map(id).collect::<Vec<_>>().join(", ");
    place.execute(&format!("UPDATE webhooks SET url = 'relay:' WHERE id IN ({ids})"));
}

/// Returns a send from each member to the next one.
pub(crate) fn ring(members: &[Member]) -> Vec<Vec<u8>> {
    let next = members.iter().cycle().skip(1);
    let send = |(from, to): (&Member, &Member)| {
        from.send(&format!(r#"{{"to":"{}","message":"hello"}}"#, to.key))
    };
    members.iter().zip(next).map(send).collect()
}

/// Returns `POST /v1/channel/send`. `key` is a header line, or empty.
pub(crate) fn send_request(token: &str, key: &str, body: &str) -> Vec<u8> {
    post("/v1/channel/send", &format!("Authorization: Bearer {token}\r\n{key}"), body)
}

/// Returns an enterprise plan with no limit except the throughput.
pub(crate) const fn unbounded(per_second: u32) -> Plan {
    Plan::Enterprise(EnterpriseTerms {
        per_minute: u32::MAX,
        per_day: u32::MAX,
        per_month: u32::MAX,
        per_second,
        allow_overage: false,
    })
}

/// Creates keys, a few for each account.
struct KeyFactory {
    keyring: Keyring,
    account: Option<(AccountId, Arc<str>)>,
    made: usize,
}

impl KeyFactory {
    fn of(place: &Place) -> Self {
        Self { keyring: place.keyring(), account: None, made: 0 }
    }

    fn add(&mut self, tx: &mut Transaction, plan: Plan) -> Result<Member, StoreError> {
        let (account, token) = match &self.account {
            Some(account) if !self.made.is_multiple_of(KEYS_AN_ACCOUNT) => account.clone(),
            _ => self.account.insert(open_account(tx)?).clone(),
        };
        self.made += 1;
        insert_key(tx, (account, token), &self.keyring, plan)
    }
}

fn insert_key(
    tx: &mut Transaction,
    (account, token): (AccountId, Arc<str>),
    keyring: &Keyring,
    plan: Plan,
) -> Result<Member, StoreError> {
    let key = key(account, keyring, plan);
    tx.insert_key(&key)?;
    Ok(Member { key: key.id, token, webhook: None })
}

fn open_account(tx: &mut Transaction) -> Result<(AccountId, Arc<str>), StoreError> {
    let id = AccountId::new(PAST, random().expect(RANDOMNESS));
    let login_secret = LoginSecret::generate().expect(RANDOMNESS).hash();
    let token = SessionToken::generate().expect(RANDOMNESS);
    let secrets = AccountSecrets { login_secret, recovery_code: token.hash() };
    tx.insert_account(&Account { id, secrets, created_at: PAST })?;
    let session = Session { token: token.hash(), account_id: id, expires_at: FAR_FUTURE };
    tx.insert_session(&session, PAST, &RequestSource::default())?;
    Ok((id, token.expose().into()))
}

fn key(account_id: AccountId, keyring: &Keyring, plan: Plan) -> ApiKey {
    let id = ApiKeyId::new(PAST, random().expect(RANDOMNESS));
    let root = Root::generate().expect(RANDOMNESS);
    ApiKey {
        id,
        account_id,
        label: Label::parse("bench").expect("the label is valid"),
        handle: None,
        root: Some(
            root.wrap(keyring, &OwnedKey { id, account_id }).expect("the keyring has a key"),
        ),
        did: Identity::new(root).expect("a root has an identity").did(),
        status: KeyStatus::Active,
        plan,
        sealing_version: 1,
        created_at: PAST,
    }
}

fn webhook(key: ApiKeyId, keyring: &Keyring, receiver: &Receiver, target: usize) -> Webhook {
    let id = WebhookId::new(PAST, random().expect(RANDOMNESS));
    let secret = receiver.secret(target);
    Webhook {
        id,
        api_key_id: key,
        url: receiver.url(target),
        events: vec![EventKind::EnvelopeReceived],
        secret: secret.wrap(keyring, &id).expect("the keyring has a key"),
        retiring: Vec::new(),
        status: WebhookStatus::Enabled,
        disabled_reason: None,
        failing_since: None,
        description: None,
        paused: false,
        created_at: PAST,
        last_success_at: None,
        last_failure: None,
    }
}

pub(crate) const PAST: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const FAR_FUTURE: Timestamp = Timestamp::from_millis(i64::MAX);
const KEYS_AN_ACCOUNT: usize = 8;
const PAIRS: usize = 1024;
const RANDOMNESS: &str = "there is randomness";
