//! Fills a database with many envelopes and keys, like a service that has run for a long time.

use std::{sync::Arc, time::Duration};

use sealpost_domain::{
    Account, AccountId, AccountSecrets, ApiKey, ApiKeyId, Did, Envelope, EnvelopeId, EnvelopeMeta,
    Event, KeyStatus, Label, LeaseToken, LeasedDelivery, Plan, Target, Timestamp, TokenHash,
    Wrapped,
    ports::{Durability, StoreError, WriteSet},
};
use sealpost_storage::Database;
use sealpost_wallet::random;

use crate::{
    measure::clock::now,
    stage::{
        database::Place,
        identities::{Identities, Member, PAST},
    },
};

/// The number of envelopes and keys.
#[derive(Clone, Copy)]
pub(crate) struct Stored {
    pub(crate) envelopes: u64,
    pub(crate) keys: u64,
}

impl Stored {
    /// Inserts delivered envelopes of these identities over the last days, and keys of other accounts.
    pub(crate) fn put(self, place: &Place, identities: &Identities, like: &Envelope) {
        let database = place.open();
        put_keys(&database, self.keys).expect("the database can be filled");
        let like = recent(like);
        in_batches(self.envelopes, |numbers| {
            let envelopes = numbers.map(|number| Arc::new(envelope(&like, identities, number)));
            let changes = WriteSet { envelopes: envelopes.collect(), ..WriteSet::default() };
            store(&database, &changes)
        });
        place.settle_down();
    }
}

/// Inserts envelopes with a due delivery without a lease.
pub(crate) fn put_backlog(place: &Place, identities: &Identities, like: &Envelope, count: u64) {
    let (database, like) = (place.open(), recent(like));
    in_batches(count, |numbers| {
        let mut changes = WriteSet::default();
        for number in numbers {
            let envelope = envelope(&like, identities, number);
            changes.unleased.push(delivery(&envelope.meta, identities, number));
            changes.envelopes.push(Arc::new(envelope));
        }
        store(&database, &changes)
    });
    place.settle_down();
}

/// Returns a copy of an envelope for the next pair. The id and the time grow with the number.
fn envelope(like: &Envelope, identities: &Identities, number: u64) -> Envelope {
    let at = like.meta.timestamp.plus(Duration::from_millis(number * EVERY_MS));
    let meta = EnvelopeMeta {
        id: EnvelopeId::new(at, random().expect(RANDOMNESS)),
        sender: of_turn(&identities.senders, number).key,
        recipient: of_turn(&identities.recipients, number).key,
        timestamp: at,
        ..like.meta.clone()
    };
    Envelope { meta, ..like.clone() }
}

/// Returns the delivery of the envelope.
fn delivery(meta: &EnvelopeMeta, identities: &Identities, number: u64) -> LeasedDelivery {
    let recipient = of_turn(&identities.recipients, number);
    let webhook = recipient.webhook.as_ref().expect("a recipient has a webhook");
    LeasedDelivery {
        event: Event::received(meta.clone(), None),
        target: Arc::new(Target {
            webhook_id: webhook.id,
            // Not stored: a claim reads the account of the key.
            account_id: AccountId::new(PAST, [0; 10]),
            url: webhook.url.clone(),
            secret: webhook.secret.clone(),
            retiring: Vec::new(),
        }),
        target_read_at: PAST,
        attempts: 0,
        requested_at: None,
        lease: LeaseToken(1),
        lease_until: PAST,
    }
}

fn put_keys(store: &Database, count: u64) -> Result<(), StoreError> {
    let mut left = count;
    while left > 0 {
        let size = left.min(KEYS_AN_ACCOUNT);
        store.write(Durability::Relaxed, |tx| {
            let account_id = AccountId::new(PAST, random().expect(RANDOMNESS));
            let login_secret = TokenHash(random().expect(RANDOMNESS));
            let recovery_code = TokenHash(random().expect(RANDOMNESS));
            let secrets = AccountSecrets { login_secret, recovery_code };
            tx.insert_account(&Account { id: account_id, secrets, created_at: PAST })?;
            (0..size).try_for_each(|_| tx.insert_key(&key(account_id)))
        })?;
        left -= size;
    }
    Ok(())
}

/// Returns an unused key. Its root is never decrypted.
fn key(account_id: AccountId) -> ApiKey {
    ApiKey {
        id: ApiKeyId::new(PAST, random().expect(RANDOMNESS)),
        account_id,
        label: Label::parse("stored").expect("a sane label"),
        handle: None,
        root: Some(Wrapped(random::<61>().expect(RANDOMNESS).to_vec())),
        did: Did::new("did:key:z6MkjHTz6XfqZgrbpMahSvF2jxK4ZfaJ8jRnrALenJQaF88N".to_owned()),
        status: KeyStatus::Active,
        plan: Plan::Explorer,
        sealing_version: 1,
        created_at: PAST,
    }
}

fn in_batches(count: u64, mut put: impl FnMut(std::ops::Range<u64>) -> Result<(), StoreError>) {
    let mut first = 0;
    while first < count {
        let end = count.min(first + BATCH);
        put(first..end).expect("the database can be filled");
        first = end;
    }
}

fn store(store: &Database, changes: &WriteSet) -> Result<(), StoreError> {
    store.write(Durability::Relaxed, |tx| tx.apply(changes))
}

/// Returns an envelope young enough for retention, and old enough that the last of ten million is not in the
/// future.
fn recent(like: &Envelope) -> Envelope {
    let timestamp = Timestamp::from_millis(now().as_millis() - DAYS_20_MS);
    Envelope { meta: EnvelopeMeta { timestamp, ..like.meta.clone() }, ..like.clone() }
}

fn of_turn(members: &[Member], number: u64) -> &Member {
    let turn = usize::try_from(number).expect("64 bits") % members.len();
    members.get(turn).expect("within")
}

const BATCH: u64 = 256;
const KEYS_AN_ACCOUNT: u64 = 100;
const EVERY_MS: u64 = 100;
const DAYS_20_MS: i64 = 20 * 24 * 60 * 60 * 1000;
const RANDOMNESS: &str = "there is randomness";
