//! Compares random sequences of operations with a model. Each change of an API key must inform each correspondent once.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// A random operation. A `usize` selects one of the API keys.
#[derive(Debug, Clone)]
enum Step {
    /// Reads this many envelopes to find correspondents, and stores events for them. If the flag is set, the
    /// transaction is rolled back.
    Inform(u32, bool),
    Purge(u32),
    Revoke(usize),
    Rotate(usize),
    Send(usize, usize),
}

const KEYS: usize = 5;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..4_u32, any::<bool>()).prop_map(|(limit, is_lost)| Step::Inform(limit, is_lost)),
        1 => (1..4_u32).prop_map(Step::Purge),
        1 => (0..KEYS).prop_map(Step::Revoke),
        2 => (0..KEYS).prop_map(Step::Rotate),
        8 => (0..KEYS, 0..KEYS).prop_map(|(from, to)| Step::Send(from, to)),
    ]
}

/// A change of an API key. `shown_by` has the correspondents of the key, and the envelopes by which they are found.
struct Change {
    rotation: IdentityRotation,
    shown_by: BTreeMap<ApiKeyId, BTreeSet<EnvelopeId>>,
}

struct Run<'a> {
    db: &'a Fixture,
    keys: Vec<ApiKeyId>,
    subscribed: BTreeSet<ApiKeyId>,
    revoked: BTreeSet<ApiKeyId>,
    envelopes: BTreeMap<EnvelopeId, (ApiKeyId, ApiKeyId)>,
    changes: Vec<Change>,
    now: i64,
}

impl Run<'_> {
    fn apply(&mut self, step: &Step) {
        self.now += 10;
        match *step {
            Step::Inform(limit, is_lost) => {
                let mut tx = self.db.begin(Relaxed).unwrap();
                tx.inform_correspondents(at(0), at(50), MANY, limit).unwrap();
                if !is_lost {
                    tx.commit().unwrap();
                }
            }
            Step::Purge(limit) => {
                let purge = self
                    .db
                    .write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(self.now), limit));
                purge.unwrap();
                for _ in 0..limit {
                    self.envelopes.pop_first();
                }
            }
            Step::Revoke(key) => {
                let key = self.keys[key];
                if self.revoked.insert(key) {
                    let now = at(self.now);
                    self.db.write(Durable, |tx| tx.revoke_key(&key, now)).unwrap();
                    self.caused(IdentityRotation {
                        api_key_id: key,
                        handle: None,
                        replaced_by: None,
                        reason: RotationReason::Revoked,
                        at: now,
                    });
                }
            }
            Step::Rotate(key) => {
                let rotation = rotate(self.db, &self.keys[key], self.now);
                self.caused(rotation);
            }
            Step::Send(from, to) => {
                let (from, to) = (self.keys[from], self.keys[to]);
                self.envelopes.insert(send(self.db, &from, &to, self.now), (from, to));
            }
        }
    }

    fn caused(&mut self, rotation: IdentityRotation) {
        let key = rotation.api_key_id;
        let mut shown_by = BTreeMap::<_, BTreeSet<_>>::new();
        for (id, (from, to)) in &self.envelopes {
            let other = if *from == key { to } else { from };
            if (*from == key || *to == key) && *other != key {
                shown_by.entry(*other).or_default().insert(*id);
            }
        }
        self.changes.push(Change { rotation, shown_by });
    }

    /// Checks the stored events. A correspondent may have no event if its envelopes were deleted, or if its own key was
    /// revoked together with its webhooks.
    fn check(self) -> Result<(), TestCaseError> {
        while inform(self.db, MANY, 2) {}
        prop_assert_eq!(self.db.count("identity_rotations"), 0);
        let (mut allowed, mut required) = (0, 0);
        for Change { rotation, shown_by } in &self.changes {
            for (key, envelopes) in shown_by {
                let id = rotation.event_for(key).id;
                let stored = self.db.count(&format!("events WHERE id = '{id}'"));
                let is_subscribed = self.subscribed.contains(key);
                let is_shown = envelopes.iter().any(|id| self.envelopes.contains_key(id));
                if is_subscribed && is_shown && !self.revoked.contains(key) {
                    prop_assert_eq!(stored, 1, "{:?} informs {}", rotation, key);
                    required += 1;
                }
                prop_assert!(is_subscribed || stored == 0, "{} is not subscribed", key);
                allowed += stored;
            }
        }
        let all = self.db.count("events WHERE kind = 'identity.rotated'");
        prop_assert_eq!(all, allowed, "an event without a cause");
        prop_assert!(required <= all);
        Ok(())
    }
}

fn run(db: &Fixture, subscribed: &[bool], steps: &[Step]) -> Result<(), TestCaseError> {
    let keys: Vec<_> = subscribed.iter().map(|_| db.activate().id).collect();
    let subscribed: BTreeSet<_> =
        keys.iter().zip(subscribed).filter(|(_, is)| **is).map(|(key, _)| *key).collect();
    for key in &subscribed {
        db.register_for(key, KINDS);
    }
    let (revoked, envelopes, changes) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
    let mut run = Run { db, keys, subscribed, revoked, envelopes, changes, now: 1_000_000 };
    for step in steps {
        run.apply(step);
    }
    run.check()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn each_change_informs_each_correspondent_once_on_sqlite(
        subscribed in prop::collection::vec(any::<bool>(), KEYS),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        run(&crate::tests::fixture::sqlite(), &subscribed, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn each_change_informs_each_correspondent_once_on_postgres(
        subscribed in prop::collection::vec(any::<bool>(), KEYS),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        run(&crate::tests::fixture::postgres(), &subscribed, &steps)?;
    }
}
