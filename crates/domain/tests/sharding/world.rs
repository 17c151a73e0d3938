//! The state of the model: one directory, several shards, and nodes with caches.

use std::collections::{BTreeMap, BTreeSet};

use crate::{check::History, order::CommitOrder, random::Random};

pub(crate) const KEYS: usize = 4;
pub(crate) const SLOTS: usize = 2;
pub(crate) const SHARDS: usize = 3;
pub(crate) const NODES: usize = 3;
/// Messages that a key may send.
pub(crate) const LIMIT: usize = 3;

pub(crate) type KeyNo = usize;
pub(crate) type RequestNo = usize;
pub(crate) type ShardNo = usize;
pub(crate) type SlotNo = usize;
pub(crate) type Version = usize;

/// Each key belongs to one slot permanently.
pub(crate) const fn slot_of(key: KeyNo) -> SlotNo {
    key % SLOTS
}

pub(crate) struct World {
    pub(crate) order: CommitOrder,
    pub(crate) random: Random,
    pub(crate) directory: Directory,
    pub(crate) shards: Vec<Shard>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) history: History,
}

/// The database cluster with the keys, sessions and handles, and the map from slots to shards.
pub(crate) struct Directory {
    pub(crate) is_away: bool,
    pub(crate) facts: Vec<Facts>,
    pub(crate) members: Vec<Membership>,
    pub(crate) placements: Vec<Placement>,
    pub(crate) changes: Vec<Change>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Membership {
    Absent,
    /// Applies changes, but owns no slot.
    Joining,
    Open,
}

/// All facts of a key, as one version.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) version: Version,
    pub(crate) is_revoked: bool,
}

/// A committed change that some shards have not confirmed yet.
pub(crate) struct Change {
    pub(crate) key: KeyNo,
    pub(crate) version: Version,
    pub(crate) is_revocation: bool,
    pub(crate) unconfirmed: BTreeSet<ShardNo>,
}

#[derive(Clone)]
pub(crate) struct Placement {
    pub(crate) epoch: usize,
    pub(crate) shard: ShardNo,
    /// Earlier shards of the slot. A send must look there for its idempotency key.
    pub(crate) former: BTreeSet<ShardNo>,
    /// The target of a hand-over that has begun.
    pub(crate) next: Option<ShardNo>,
}

pub(crate) struct Shard {
    pub(crate) is_away: bool,
    pub(crate) gates: Vec<Gate>,
    pub(crate) versions: Vec<Version>,
    pub(crate) used: Vec<usize>,
    pub(crate) names: BTreeMap<RequestNo, EnvelopeId>,
    pub(crate) envelopes: BTreeMap<EnvelopeId, StoredEnvelope>,
    /// Keys whose usage row is locked by a running batch. The batch also holds the shared hand-over lock, for which a
    /// hand-over waits.
    pub(crate) locked: BTreeSet<KeyNo>,
}

/// The right of a shard to store sends of a slot, as of an epoch.
#[derive(Clone, Copy)]
pub(crate) struct Gate {
    pub(crate) epoch: usize,
    pub(crate) is_open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct EnvelopeId {
    pub(crate) epoch: usize,
    pub(crate) shard: ShardNo,
    /// Number of the attempt that creates the envelope. In a real id, the time and random bits take its place.
    pub(crate) attempt: usize,
}

pub(crate) struct StoredEnvelope {
    pub(crate) request: RequestNo,
    pub(crate) sender: KeyNo,
}

/// The caches of a node.
#[derive(Clone)]
pub(crate) struct Node {
    /// The process is paused with open transactions.
    pub(crate) is_stalled: bool,
    pub(crate) facts: Vec<Option<Facts>>,
    pub(crate) placements: Vec<Option<Placement>>,
}

impl World {
    /// Two open shards with a slot each; the third shard is absent.
    pub(crate) fn new(seed: u64, order: CommitOrder) -> Self {
        let placement = |shard| Placement { epoch: 1, shard, former: BTreeSet::new(), next: None };
        Self {
            order,
            random: Random::new(seed),
            directory: Directory {
                is_away: false,
                facts: vec![Facts { version: 0, is_revoked: false }; KEYS],
                members: vec![Membership::Open, Membership::Open, Membership::Absent],
                placements: (0..SLOTS).map(placement).collect(),
                changes: Vec::new(),
            },
            shards: (0..SHARDS).map(Shard::new).collect(),
            nodes: vec![Node::empty(); NODES],
            history: History::default(),
        }
    }

    /// Returns the shard if it can be reached.
    pub(crate) fn reach(&mut self, shard: ShardNo) -> Option<&mut Shard> {
        Some(&mut self.shards[shard]).filter(|shard| !shard.is_away)
    }
}

impl Shard {
    fn new(shard: ShardNo) -> Self {
        Self {
            is_away: false,
            gates: (0..SLOTS).map(|slot| Gate { epoch: 1, is_open: slot == shard }).collect(),
            versions: vec![0; KEYS],
            used: vec![0; KEYS],
            names: BTreeMap::new(),
            envelopes: BTreeMap::new(),
            locked: BTreeSet::new(),
        }
    }
}

impl Node {
    pub(crate) fn empty() -> Self {
        Self { is_stalled: false, facts: vec![None; KEYS], placements: vec![None; SLOTS] }
    }
}
