//! A change of a key, such as a revocation: one transaction in the directory (the shared database), then one
//! transaction in every shard, then the response to the caller.

use std::collections::BTreeSet;

use crate::{
    order::CommitOrder,
    world::{Change, KeyNo, Membership, SHARDS, ShardNo, Version, World},
};

/// A message that stores a new version of a key in a shard. Duplicates of the message may arrive much later.
#[derive(Clone, Copy)]
pub(crate) struct VersionPush {
    pub(crate) change: usize,
    pub(crate) shard: ShardNo,
}

/// Commits a change of the key in the directory, with the list of shards that must confirm the change.
pub(crate) fn begin(world: &mut World, key: KeyNo, is_revocation: bool) {
    let directory = &mut world.directory;
    let facts = &mut directory.facts[key];
    if directory.is_away || facts.is_revoked {
        return;
    }
    facts.version += 1;
    facts.is_revoked = is_revocation;
    let unconfirmed: BTreeSet<_> =
        (0..SHARDS).filter(|shard| directory.members[*shard] != Membership::Absent).collect();
    directory.changes.push(Change { key, version: facts.version, is_revocation, unconfirmed });
    if is_revocation && world.order == CommitOrder::AcknowledgesBeforeShards {
        world.history.acknowledge(key);
    }
}

/// Chooses a random change and a shard that has not confirmed it. Any node may send this change, because the first node
/// may have crashed.
pub(crate) fn unconfirmed(world: &mut World) -> Option<VersionPush> {
    let all: Vec<_> = (0..world.directory.changes.len())
        .flat_map(|change| {
            let shards = &world.directory.changes[change].unconfirmed;
            shards.iter().map(move |shard| VersionPush { change, shard: *shard })
        })
        .collect();
    (!all.is_empty()).then(|| all[world.random.below(all.len())])
}

/// Writes the new version of the key to the shard. Returns false if the shard cannot be reached, or if a batch of sends
/// of the key is running. The caller must then repeat the push.
pub(crate) fn apply(world: &mut World, push: VersionPush) -> bool {
    let Change { key, version, .. } = world.directory.changes[push.change];
    let order = world.order;
    let Some(shard) = world.reach(push.shard) else { return false };
    if shard.locked.contains(&key) && order != CommitOrder::IgnoresUsageLock {
        world.history.waits_for_batch += 1;
        return false;
    }
    let newest = if order == CommitOrder::AppliesOlderVersions { 0 } else { shard.versions[key] };
    shard.versions[key] = newest.max(version);
    true
}

/// Records in the directory that a shard has stored the change. After the last shard, the caller gets its response.
/// Returns false if the directory cannot be reached.
pub(crate) fn confirm(world: &mut World, push: VersionPush) -> bool {
    if world.directory.is_away {
        return false;
    }
    let Change { key, is_revocation, ref mut unconfirmed, .. } =
        world.directory.changes[push.change];
    if unconfirmed.remove(&push.shard) && unconfirmed.is_empty() && is_revocation {
        world.history.acknowledge(key);
    }
    true
}

/// The steps by which a new shard joins. After a crash, the copy of the versions starts again.
#[derive(Clone, Copy)]
pub(crate) enum JoinStep {
    Announce,
    Copy(KeyNo),
    Open,
    Done,
}

impl JoinStep {
    pub(crate) fn step(self, world: &mut World, shard: ShardNo) -> Self {
        let skips_copy = world.order == CommitOrder::JoinsWithoutVersions;
        let is_away = world.directory.is_away;
        match self {
            _ if is_away || world.reach(shard).is_none() => self,
            Self::Announce => {
                world.directory.members[shard] = Membership::Joining;
                if skips_copy { Self::Open } else { Self::Copy(0) }
            }
            Self::Copy(key) => {
                let newest: Version = world.directory.facts[key].version;
                let versions = &mut world.shards[shard].versions;
                versions[key] = versions[key].max(newest);
                if key + 1 < versions.len() { Self::Copy(key + 1) } else { Self::Open }
            }
            Self::Open => {
                world.directory.members[shard] = Membership::Open;
                world.history.joins += 1;
                Self::Done
            }
            Self::Done => Self::Done,
        }
    }

    pub(crate) const fn after_crash(self) -> Self {
        match self {
            Self::Copy(_) => Self::Copy(0),
            other => other,
        }
    }
}
