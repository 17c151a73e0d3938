//! Tests that changes of many deliveries do not deadlock. Each transaction locks deliveries, then their envelopes, then
//! their webhooks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use sealpost_domain::{
    ApiKey, AttemptFailure, AttemptResult, DeliveryId, Envelope, EventKind, LeaseToken,
    LeasedDelivery, Outcome, Webhook,
    ports::{
        Durability::{Durable, Relaxed},
        FailureRange, Outbox as _, StoreError, WriteSet,
    },
};

use crate::{
    Database, Settings,
    connection::transaction::Transaction,
    tests::fixture::{self, FAILING_MAX, Fixture, at, delivery, envelope, keyring, result_of},
};

#[test]
fn concurrent_changes_of_many_deliveries_do_not_deadlock() {
    let db = fixture::postgres();
    let begun = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&begun);
    let counting = Database::open(&db.url, Settings { pool_max: 12, ..Settings::default() });
    let counting = counting.unwrap().with_hook(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    counting.authenticate_rows(keyring(1));
    for round in 0..ROUNDS {
        let scene = Scene::new(&db, LeaseToken(i64::from(round) + 1));
        begun.store(0, Ordering::SeqCst);
        let acts = scene.change_at_once(&counting, round % 2 == 0);
        // A transaction that PostgreSQL ends is begun again.
        assert_eq!(begun.load(Ordering::SeqCst), acts, "round {round}");
    }
}

const ROUNDS: u32 = 20;
const ENVELOPES: usize = 30;

/// Envelopes to a key with two webhooks. Each delivery is leased.
struct Scene {
    recipient: ApiKey,
    webhooks: [Webhook; 2],
    held: Vec<LeasedDelivery>,
}

impl Scene {
    fn new(db: &Fixture, lease: LeaseToken) -> Self {
        let (sender, recipient) = (db.activate(), db.activate());
        db.register_for(&sender.id, &[EventKind::EnvelopeBounced]);
        let webhooks = [db.register(&recipient.id), db.register(&recipient.id)];
        let sent = || Arc::new(envelope(&sender.id, &recipient.id));
        let envelopes: Vec<_> = (0..ENVELOPES).map(|_| sent()).collect();
        let deliveries = |sent: &Arc<Envelope>| {
            let sent = Arc::clone(sent);
            webhooks.clone().map(|to| delivery(&sent, &to, lease, 100_000))
        };
        let leased: Vec<_> = envelopes.iter().flat_map(deliveries).collect();
        db.apply(&WriteSet { envelopes, leased: leased.clone(), ..WriteSet::default() });
        db.execute("UPDATE deliveries SET failed_at = 5").unwrap();
        Self { recipient, webhooks, held: leased }
    }

    /// Makes changes of the deliveries at the same time, each in one transaction, and returns the number of
    /// transactions.
    fn change_at_once(&self, db: &Database, is_revoked: bool) -> u32 {
        let acts: Vec<Act<'_>> = vec![
            self.record(0),
            self.record(1),
            self.release(),
            self.recover(0),
            self.recover(1),
            Box::new(|db| db.write(Durable, |tx| self.delete(tx, is_revoked))),
            Box::new(|db| db.write(Relaxed, |tx| tx.purge_deleted_webhooks(at(9), 100)).map(drop)),
        ];
        thread::scope(|scope| {
            for act in &acts {
                scope.spawn(move || act(db).unwrap());
            }
        });
        u32::try_from(acts.len()).unwrap()
    }

    /// Records every second outcome, beginning with the newest envelope.
    fn record(&self, first: usize) -> Act<'_> {
        let results: Vec<_> =
            self.held.iter().enumerate().skip(first).step_by(2).rev().map(result).collect();
        Box::new(move |db| db.record_outcomes(&results, FAILING_MAX))
    }

    /// Releases every third delivery, the deliveries to the second webhook first.
    fn release(&self) -> Act<'_> {
        let lease = |held: &LeasedDelivery| (held.id(), held.lease);
        let mut leases: Vec<(DeliveryId, LeaseToken)> =
            self.held.iter().step_by(3).map(lease).collect();
        leases.sort_by_key(|(id, _)| id.webhook_id != self.webhooks[1].id);
        Box::new(move |db| db.release(&leases, at(9)))
    }

    /// Makes all deliveries to a webhook due again.
    fn recover(&self, webhook: usize) -> Act<'_> {
        let id = self.webhooks[webhook].id;
        let all = FailureRange {
            since: at(0),
            until: at(100_000),
            oldest: at(0),
            limit: 100,
            counted_only: false,
        };
        Box::new(move |db| {
            db.write(Durable, |tx| {
                tx.recover_leased(&id, &all, at(9), at(1_000_000))?;
                tx.recover_deliveries(&id, &all, at(9)).map(drop)
            })
        })
    }

    /// Revokes the key, or deletes its second webhook.
    fn delete(&self, tx: &mut Transaction, is_revoked: bool) -> Result<(), StoreError> {
        if is_revoked {
            tx.lock_key(&self.recipient.id)?;
            return tx.revoke_key(&self.recipient.id, at(9)).map(drop);
        }
        tx.delete_webhook(&self.recipient.id, &self.webhooks[1].id, at(9)).map(drop)
    }
}

type Act<'a> = Box<dyn Fn(&Database) -> Result<(), StoreError> + Send + Sync + 'a>;

/// Returns the result of an attempt: successes, failures with a further attempt, and last failures by turns.
fn result((index, held): (usize, &LeasedDelivery)) -> AttemptResult {
    let failure = AttemptFailure::Dns;
    let outcome = match index / 2 % 3 {
        0 => Outcome::Succeeded,
        1 => Outcome::Exhausted(failure),
        _ => Outcome::Retry { failure, due_at: at(50_000) },
    };
    result_of(held, 1001, outcome)
}
