//! The order of commits in the design, and wrong orders. The checks must find a violation with each wrong order.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommitOrder {
    Designed,
    /// Wrong order: a change of a key is confirmed to its caller before the shards have stored the change.
    AcknowledgesBeforeShards,
    /// Wrong order: an older version of a key replaces a newer version in a shard.
    AppliesOlderVersions,
    /// Wrong order: a shard stores a change of a key while a batch of sends of this key is running.
    IgnoresUsageLock,
    /// Wrong order: the new shard of a slot accepts sends before the old shard rejects them.
    OpensBeforeClose,
    /// Wrong order: a slot moves to another shard while batches of sends are running in the old shard.
    IgnoresRunningBatches,
    /// Wrong order: a repeated send searches its idempotency key only in the current shard of the slot, and not in its
    /// former shards.
    ForgetsFormerShards,
    /// Wrong order: a shard does not compare epochs (version numbers of a slot's placement). It checks only whether the
    /// slot is open.
    IgnoresEpochs,
    /// Wrong order: a new shard accepts sends before it has copied the versions of all keys.
    JoinsWithoutVersions,
    /// Wrong order: a send is confirmed to its caller before its transaction is committed.
    RepliesBeforeCommit,
}
