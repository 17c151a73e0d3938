//! Envelopes and keys put into a database directly, many at a time: what a service that has run for long has stored.

use std::{sync::Arc, time::Duration};

use sealpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, Did, Envelope, EnvelopeId, EnvelopeMeta, KeyStatus,
    Label, LeaseToken, LeasedDelivery, Plan, Target, Timestamp, TokenHash, Wrapped,
    ports::{Durability, Store, StoreError, WriteSet},
};
use sealpost_wallet::random;

use crate::{
    measure::clock::now,
    stage::{
        database::Place,
        people::{Member, PAST, People},
    },
};

/// How much of it.
#[derive(Clone, Copy)]
pub(crate) struct Stored {
    pub(crate) envelopes: u64,
    pub(crate) keys: u64,
}

impl Stored {
    /// Puts it in: envelopes of these people that were delivered, over the last days, and keys of others.
    pub(crate) fn put(self, place: &Place, people: &People, like: &Envelope) {
        let database = place.open();
        put_keys(&database, self.keys).expect("the database can be filled");
        let like = recent(like);
        in_batches(self.envelopes, |numbers| {
            let envelopes = numbers.map(|number| Arc::new(envelope(&like, people, number)));
            let changes = WriteSet { envelopes: envelopes.collect(), ..WriteSet::default() };
            store(&database, &changes)
        });
        place.settle_down();
    }
}

/// Puts envelopes in, each with a delivery that is due and that nobody holds.
pub(crate) fn put_backlog(place: &Place, people: &People, like: &Envelope, count: u64) {
    let (database, like) = (place.open(), recent(like));
    in_batches(count, |numbers| {
        let mut changes = WriteSet::default();
        for number in numbers {
            let envelope = envelope(&like, people, number);
            changes.unleased.push(delivery(&envelope.meta, people, number));
            changes.envelopes.push(Arc::new(envelope));
        }
        store(&database, &changes)
    });
    place.settle_down();
}

/// An envelope like this, of the pair whose turn it is. Its id and its time grow with its number.
pub(crate) fn envelope(like: &Envelope, people: &People, number: u64) -> Envelope {
    let at = like.meta.timestamp.plus(Duration::from_millis(number * EVERY_MS));
    let meta = EnvelopeMeta {
        id: EnvelopeId::new(at, random().expect(RANDOMNESS)),
        sender: of_turn(&people.senders, number).key,
        recipient: of_turn(&people.recipients, number).key,
        timestamp: at,
        ..like.meta.clone()
    };
    Envelope { meta, ..like.clone() }
}

/// The delivery of that envelope.
pub(crate) fn delivery(meta: &EnvelopeMeta, people: &People, number: u64) -> LeasedDelivery {
    let recipient = of_turn(&people.recipients, number);
    let webhook = recipient.webhook.as_ref().expect("a recipient has one");
    LeasedDelivery {
        meta: Arc::new(meta.clone()),
        target: Arc::new(Target {
            webhook_id: webhook.id,
            url: webhook.url.clone(),
            secret: webhook.secret.clone(),
            retiring: Vec::new(),
        }),
        attempts: 0,
        lease: LeaseToken(1),
        lease_until: PAST,
    }
}

fn put_keys(store: &dyn Store, count: u64) -> Result<(), StoreError> {
    let mut left = count;
    while left > 0 {
        let size = left.min(KEYS_AN_ACCOUNT);
        store.write(Durability::Relaxed, |tx| {
            let account_id = AccountId::new(PAST, random().expect(RANDOMNESS));
            let login_secret = TokenHash(random().expect(RANDOMNESS));
            tx.insert_account(&Account { id: account_id, login_secret, created_at: PAST })?;
            (0..size).try_for_each(|_| tx.insert_key(&key(account_id)))
        })?;
        left -= size;
    }
    Ok(())
}

/// A key that nobody uses, so that nothing of it is ever decrypted.
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

fn store(store: &dyn Store, changes: &WriteSet) -> Result<(), StoreError> {
    store.write(Durability::Relaxed, |tx| tx.apply(changes))
}

/// Young enough not to be purged, and old enough that the last of ten million is not of tomorrow.
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
