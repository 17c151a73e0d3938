//! Compares random sequences of operations with a model. Each envelope must bounce at most once, and only for a valid
//! reason.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sealpost_domain::{EnvelopeId, WebhookId, ports::WaitingEnvelope};

use super::*;

use crate::connection::transaction::Transaction;

/// A random operation. A `usize` selects one of the existing envelopes, webhooks or deliveries.
#[derive(Debug, Clone)]
enum Step {
    Attempt(usize, End),
    DeleteWebhook(usize),
    Open(usize),
    Purge(usize),
    Redeliver(usize, usize),
    Register,
    Revoke,
    Send,
    Transfer(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Exhausted,
    Retried,
    Succeeded,
}

fn step() -> impl Strategy<Value = Step> {
    let end = prop_oneof![Just(End::Exhausted), Just(End::Retried), Just(End::Succeeded)];
    prop_oneof![
        12 => (0..64_usize, end).prop_map(|(nth, end)| Step::Attempt(nth, end)),
        1 => (0..64_usize).prop_map(Step::DeleteWebhook),
        2 => (0..64_usize).prop_map(Step::Open),
        1 => (0..4_usize).prop_map(Step::Purge),
        2 => (0..64_usize, 0..64_usize).prop_map(|(nth, to)| Step::Redeliver(nth, to)),
        1 => Just(Step::Register),
        1 => Just(Step::Revoke),
        6 => Just(Step::Send),
        3 => (1..4_u32).prop_map(Step::Transfer),
    ]
}

/// The expected state of an envelope.
#[derive(Debug, Default)]
struct Fate {
    /// True if the envelope was delivered to a webhook, so that it cannot bounce.
    is_announced: bool,
    is_opened: bool,
    is_waiting: bool,
    /// The deliveries by webhook. The value is true if another attempt may follow.
    deliveries: BTreeMap<WebhookId, bool>,
    bounced: Option<&'static str>,
}

impl Fate {
    fn bounce(&mut self, reason: &'static str) {
        if !self.is_announced && !self.is_opened {
            self.bounced.get_or_insert(reason);
        }
    }

    /// Updates the expected state after a delivery ended without success. The envelope may bounce, or wait for a
    /// webhook.
    fn settle(&mut self, is_revoked: bool) {
        let is_exhausted = !self.deliveries.is_empty() && !self.deliveries.values().any(|it| *it);
        if is_revoked {
            self.bounce("recipient_revoked");
        } else if is_exhausted {
            self.bounce("exhausted");
        } else if self.deliveries.is_empty() {
            self.is_waiting = !self.is_announced && !self.is_opened && self.bounced.is_none();
        }
    }
}

struct Run<'a> {
    db: &'a Fixture,
    pair: Pair,
    envelopes: BTreeMap<EnvelopeId, Fate>,
    purged: Vec<(EnvelopeId, Fate)>,
    is_revoked: bool,
}

impl Run<'_> {
    fn envelope(&self, nth: usize) -> Option<EnvelopeId> {
        let count = self.envelopes.len().max(1);
        self.envelopes.keys().nth(nth % count).copied()
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Attempt(nth, end) => self.attempt(nth, end),
            Step::DeleteWebhook(nth) => self.delete_webhook(nth),
            Step::Open(nth) => self.open(nth),
            Step::Purge(count) => self.purge(count),
            Step::Redeliver(nth, to) => self.redeliver(nth, to),
            Step::Register => self.register(),
            Step::Revoke => self.revoke(),
            Step::Send => self.send(),
            Step::Transfer(limit) => self.transfer(limit),
        }
    }

    fn attempt(&mut self, nth: usize, how: End) {
        self.db.release_every_lease(at(55)).unwrap();
        let mut held = claim(self.db, 7);
        held.sort_by_key(LeasedDelivery::id);
        let Some(held) = held.get(nth % held.len().max(1)) else { return };
        let EventId::Envelope(id) = held.event.id() else { return };
        let fate = self.envelopes.get_mut(&id).unwrap();
        match how {
            End::Exhausted => {
                end(self.db, held, EXHAUSTED);
                fate.deliveries.insert(held.target.webhook_id, false);
                fate.settle(self.is_revoked);
            }
            End::Retried => {
                let failure = AttemptFailure::Timeout;
                end(self.db, held, Outcome::Retry { failure, due_at: at(55) });
            }
            End::Succeeded => {
                end(self.db, held, Outcome::Succeeded);
                fate.deliveries.remove(&held.target.webhook_id);
                fate.is_announced = true;
            }
        }
    }

    fn delete_webhook(&mut self, nth: usize) {
        if self.pair.to.is_empty() {
            return;
        }
        let deleted = self.pair.to.remove(nth % self.pair.to.len()).id;
        let recipient = self.pair.recipient;
        self.db.write(Durable, |tx| tx.delete_webhook(&recipient, &deleted, at(70))).unwrap();
        for fate in self.envelopes.values_mut() {
            if fate.deliveries.remove(&deleted).is_some() {
                fate.settle(self.is_revoked);
            }
        }
    }

    fn open(&mut self, nth: usize) {
        let Some(id) = self.envelope(nth) else { return };
        self.db.write(Durable, |tx| tx.mark_opened(&id, at(40))).unwrap();
        let fate = self.envelopes.get_mut(&id).unwrap();
        fate.is_opened = true;
        fate.is_waiting = false;
    }

    fn purge(&mut self, count: usize) {
        let limit = u32::try_from(count).unwrap();
        self.db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(80), limit)).unwrap();
        for _ in 0..count {
            let Some((id, mut fate)) = self.envelopes.pop_first() else { break };
            if fate.is_waiting || !fate.deliveries.is_empty() {
                fate.bounce("expired");
            }
            self.purged.push((id, fate));
        }
    }

    fn redeliver(&mut self, nth: usize, to: usize) {
        let Some(id) = self.envelope(nth) else { return };
        let Some(to) = self.pair.to.get(to % self.pair.to.len().max(1)) else { return };
        redeliver(self.db, id.into(), to.id, &self.pair.recipient);
        let fate = self.envelopes.get_mut(&id).unwrap();
        fate.is_waiting = false;
        fate.deliveries.insert(to.id, true);
    }

    fn register(&mut self) {
        if !self.is_revoked {
            self.pair.to.push(self.db.register(&self.pair.recipient));
        }
    }

    /// Transfers all waiting envelopes to the webhook of their recipient, at most `limit` in a transaction.
    fn transfer(&mut self, limit: u32) {
        let portion = |after: Option<ApiKeyId>| {
            let transfer =
                |tx: &mut Transaction| tx.transfer_waiting(after.as_ref(), at(0), at(50), limit);
            self.db.write(Relaxed, transfer).unwrap()
        };
        let mut is_done = false;
        while !is_done {
            is_done = true;
            let mut after = None;
            while let Some(done) = portion(after) {
                after = Some(done.api_key_id);
                is_done &= done.transferred == 0;
            }
        }
        for fate in self.envelopes.values_mut().filter(|fate| fate.is_waiting) {
            if self.is_revoked {
                fate.is_waiting = false;
                fate.bounce("recipient_revoked");
            } else if let Some(oldest) = self.pair.to.first() {
                fate.is_waiting = false;
                fate.deliveries.insert(oldest.id, true);
            }
        }
    }

    fn revoke(&mut self) {
        if self.is_revoked {
            return;
        }
        self.is_revoked = true;
        self.pair.to.clear();
        let recipient = self.pair.recipient;
        self.db.write(Durable, |tx| tx.revoke_key(&recipient, at(70))).unwrap();
        for fate in self.envelopes.values_mut().filter(|fate| !fate.deliveries.is_empty()) {
            fate.deliveries.clear();
            fate.settle(true);
        }
    }

    fn send(&mut self) {
        let (sent, held) = self.pair.send(self.db);
        let is_waiting = held.is_empty() && !self.is_revoked;
        if is_waiting {
            let id = sent.meta.id;
            let waiting = WaitingEnvelope { envelope_id: id, recipient: self.pair.recipient };
            self.db.apply(&WriteSet { waiting: vec![waiting], ..WriteSet::default() });
        }
        let deliveries = held.iter().map(|held| (held.target.webhook_id, true)).collect();
        self.envelopes.insert(sent.meta.id, Fate { is_waiting, deliveries, ..Fate::default() });
    }

    fn check(self) -> Result<(), TestCaseError> {
        let bounced = self.envelopes.into_iter().chain(self.purged);
        let bounced = bounced
            .filter_map(|(id, fate)| Some((id.to_string(), fate.bounced?.to_owned())))
            .collect::<BTreeSet<_>>();
        let stored = bounces(self.db);
        prop_assert_eq!(stored.iter().cloned().collect::<BTreeSet<_>>(), bounced);
        let distinct: BTreeSet<_> = stored.iter().map(|(id, _)| id).collect();
        prop_assert_eq!(distinct.len(), stored.len(), "an envelope bounced twice");
        let delivered = self.db.count("deliveries WHERE envelope_id >= 'evt_'");
        prop_assert_eq!(usize::try_from(delivered).unwrap(), stored.len());
        Ok(())
    }
}

fn run(db: &Fixture, webhooks: usize, steps: &[Step]) -> Result<(), TestCaseError> {
    let pair = Pair::new(db, webhooks);
    let mut run =
        Run { db, pair, envelopes: BTreeMap::new(), purged: Vec::new(), is_revoked: false };
    for step in steps {
        run.apply(step);
    }
    run.check()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn each_cause_bounces_an_envelope_once_on_sqlite(
        webhooks in 1..4_usize,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        run(&crate::tests::fixture::sqlite(), webhooks, &steps)?;
    }

    #[test]
    fn each_cause_bounces_an_envelope_once_on_postgres(
        webhooks in 1..4_usize,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        run(&crate::tests::fixture::postgres(), webhooks, &steps)?;
    }
}
