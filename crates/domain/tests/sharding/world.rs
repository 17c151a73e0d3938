//! The state of the simulation: one directory (the shared database), several shards (databases with envelopes), and
//! nodes with caches.

use std::collections::{BTreeMap, BTreeSet};

use crate::{check::History, order::CommitOrder, random::Random};

pub(crate) const KEYS: usize = 4;
pub(crate) const SLOTS: usize = 2;
pub(crate) const SHARDS: usize = 3;
pub(crate) const NODES: usize = 3;
/// Maximum number of messages that a key may send.
pub(crate) const LIMIT: usize = 3;

pub(crate) type KeyNo = usize;
pub(crate) type RequestNo = usize;
pub(crate) type ShardNo = usize;
pub(crate) type SlotNo = usize;
pub(crate) type Version = usize;

/// Returns the slot of a key. A key never changes its slot.
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

/// The shared database with the keys, and with the map from slots (sets of keys) to shards.
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
    /// The shard stores changes of keys, but has no slots and accepts no sends yet.
    Joining,
    Open,
}

/// The facts of a key: its state that decides whether sends are admitted. Each change of a key increments the version.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) version: Version,
    pub(crate) is_revoked: bool,
}

/// A change of a key that is committed in the directory, with the shards that have not confirmed it yet.
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
    /// Earlier shards of the slot. A send must search its idempotency key there too.
    pub(crate) former: BTreeSet<ShardNo>,
    /// The new shard of the slot during a hand-over. `None` if no hand-over is in progress.
    pub(crate) next: Option<ShardNo>,
}

pub(crate) struct Shard {
    pub(crate) is_away: bool,
    pub(crate) gates: Vec<Gate>,
    pub(crate) versions: Vec<Version>,
    pub(crate) used: Vec<usize>,
    pub(crate) names: BTreeMap<RequestNo, EnvelopeId>,
    pub(crate) envelopes: BTreeMap<EnvelopeId, StoredEnvelope>,
    /// Keys with a running batch of sends, which locks the usage rows of these keys. A hand-over waits until no batch
    /// is running.
    pub(crate) locked: BTreeSet<KeyNo>,
}

/// Whether a shard accepts sends of a slot. The epoch is the version number of the slot's placement.
#[derive(Clone, Copy)]
pub(crate) struct Gate {
    pub(crate) epoch: usize,
    pub(crate) is_open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct EnvelopeId {
    pub(crate) epoch: usize,
    pub(crate) shard: ShardNo,
    /// Number of the attempt that creates the envelope. A real envelope id has the time and random bits instead.
    pub(crate) attempt: usize,
}

pub(crate) struct StoredEnvelope {
    pub(crate) request: RequestNo,
    pub(crate) sender: KeyNo,
}

/// The caches of a node.
#[derive(Clone)]
pub(crate) struct Node {
    /// Whether the process is paused. Its transactions stay open during the pause.
    pub(crate) is_stalled: bool,
    pub(crate) facts: Vec<Option<Facts>>,
    pub(crate) placements: Vec<Option<Placement>>,
}

impl World {
    /// Creates a state with two open shards that have one slot each. The third shard does not exist yet.
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

    /// Returns the shard, or `None` during an outage of the shard.
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
