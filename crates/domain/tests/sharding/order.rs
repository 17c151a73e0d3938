//! The commit order of the design, and deliberately wrong orders that the checks must find.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommitOrder {
    Designed,
    /// A change is confirmed to its caller once the directory has committed it.
    AcknowledgesBeforeShards,
    /// A shard lets an older version of a key replace a newer one.
    AppliesOlderVersions,
    /// A change does not wait for a running batch of its key.
    IgnoresUsageLock,
    /// A hand-over opens and publishes the new shard before it closes the old one.
    OpensBeforeClose,
    /// A hand-over does not wait for running batches of the old shard.
    IgnoresRunningBatches,
    /// A retry looks for its idempotency key in the present shard only.
    ForgetsFormerShards,
    /// A shard compares no epochs: its gate is only open or closed.
    IgnoresEpochs,
    /// A new shard takes sends before it has the versions of the keys.
    JoinsWithoutVersions,
    /// A send is confirmed to its caller before its transaction is committed.
    RepliesBeforeCommit,
}
