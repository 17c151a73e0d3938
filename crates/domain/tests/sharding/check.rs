//! The violations that the simulation detects, and the checks at the end of a run.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    send::{Outcome, Request},
    world::{KEYS, KeyNo, LIMIT, World},
};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Violation {
    /// The caller got a success with an envelope id, but the shard named in the id does not have this envelope.
    Lost,
    /// Two envelopes were stored for one request.
    Doubled,
    /// The caller got two different envelope ids for one request.
    TwoResponses,
    /// An envelope from a revoked key was stored after the revocation was confirmed to its caller.
    StoredAfterRevocation,
    /// An envelope to a revoked key was admitted after the revocation was confirmed to its caller.
    DecidedAfterRevocation,
    /// More envelopes of one key were stored than its limit allows.
    LimitExceeded,
    /// Some requests or changes are not finished, although all faults have ended.
    Stuck,
}

/// The violations of a run, and counters of the situations that occurred in the run.
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

    /// Returns the counters with their names.
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

/// Compares the envelopes in all shards with the responses that the callers got, and reports violations.
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
