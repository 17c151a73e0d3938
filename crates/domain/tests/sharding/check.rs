//! The guarantees that every run is checked against.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    send::{Outcome, Request},
    world::{KEYS, KeyNo, LIMIT, World},
};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Violation {
    /// The caller has a success, but the shard in the id has no such envelope.
    Lost,
    /// One request has stored two envelopes.
    Doubled,
    /// The caller of one request got two ids.
    TwoResponses,
    /// A send of a revoked key was stored after the revocation was acknowledged.
    StoredAfterRevocation,
    /// A send to a revoked key was decided after the revocation was acknowledged.
    DecidedAfterRevocation,
    /// A key has stored more messages than its limit.
    LimitExceeded,
    /// Work remains although all faults have ended.
    Stuck,
}

/// The violations of a run, and counters of the cases that the run has reached.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) violations: BTreeSet<Violation>,
    acknowledged: BTreeSet<KeyNo>,
    pub(crate) stored: usize,
    pub(crate) replays: usize,
    pub(crate) found_in_former: usize,
    pub(crate) closed_gates: usize,
    pub(crate) stale_facts: usize,
    pub(crate) crashed_attempts: usize,
    pub(crate) waits_for_batch: usize,
    pub(crate) handovers: usize,
    pub(crate) joins: usize,
    pub(crate) revocations: usize,
}

impl History {
    pub(crate) fn report(&mut self, violation: Violation) {
        self.violations.insert(violation);
    }

    pub(crate) fn acknowledge(&mut self, key: KeyNo) {
        self.acknowledged.insert(key);
        self.revocations += 1;
    }

    pub(crate) fn decide(&mut self, recipient: KeyNo) {
        if self.acknowledged.contains(&recipient) {
            self.report(Violation::DecidedAfterRevocation);
        }
    }

    pub(crate) fn commit(&mut self, sender: KeyNo) {
        self.stored += 1;
        if self.acknowledged.contains(&sender) {
            self.report(Violation::StoredAfterRevocation);
        }
    }

    /// The counters by name.
    pub(crate) fn counters(&self) -> [(&'static str, usize); 10] {
        [
            ("stored", self.stored),
            ("replays", self.replays),
            ("found in a former shard", self.found_in_former),
            ("closed gates", self.closed_gates),
            ("stale facts", self.stale_facts),
            ("crashed attempts", self.crashed_attempts),
            ("waits for a batch", self.waits_for_batch),
            ("hand-overs", self.handovers),
            ("joins", self.joins),
            ("revocations", self.revocations),
        ]
    }
}

/// Compares all shards with the responses that the callers got.
pub(crate) fn check_end(world: &mut World, requests: &[Request]) {
    let mut stored: BTreeMap<usize, usize> = BTreeMap::new();
    let mut sent = [0; KEYS];
    for envelope in world.shards.iter().flat_map(|shard| shard.envelopes.values()) {
        *stored.entry(envelope.request).or_default() += 1;
        sent[envelope.sender] += 1;
    }
    if stored.values().any(|copies| *copies > 1) {
        world.history.report(Violation::Doubled);
    }
    if sent.iter().any(|sent| *sent > LIMIT) {
        world.history.report(Violation::LimitExceeded);
    }
    for (number, request) in requests.iter().enumerate() {
        let Some(Outcome::Stored(id)) = request.outcome else { continue };
        let found = world.shards[id.shard].envelopes.get(&id);
        if found.is_none_or(|envelope| envelope.request != number) {
            world.history.report(Violation::Lost);
        }
    }
}
