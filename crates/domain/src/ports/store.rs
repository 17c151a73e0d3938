//! The port to the database as a whole: opens transactions and lookups.

use std::time::Duration;

use super::{
    account::{
        AccountRepo, ActivityRepo, ApiTokenRepo, ErasureRepo, FormRepo, InviteRepo, OwnerLookup,
    },
    badges::BadgeRepo,
    delivery::{DeliveryRepo, EventRepo, WaitingRepo, WebhookRepo},
    envelopes::EnvelopeRepo,
    error::StoreError,
    governance::{AuditRepo, GovernanceRepo},
    housekeeping::HousekeepingRepo,
    keys::KeyRepo,
    ledger::SendLedger,
    lookup::{Lookup, OperatorLookup},
    nodes::NodeRepo,
    policies::PolicyRepo,
    relays::RelayRepo,
    secrets::{IssuerRepo, RewrapRepo},
};
use crate::Timestamp;

/// Decides whether a commit waits until the data is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The commit waits for the disk, so the transaction survives a crash of the machine.
    Durable,
    /// The commit does not wait for the disk. A crash of the machine may lose the newest transactions, each as a whole.
    /// Use this for repeatable work, such as recording the outcome of an attempt.
    Relaxed,
}

/// A database. Opens transactions and lookups.
pub trait Store: Send + Sync {
    /// Begins a transaction that may write. Dropping the transaction rolls it back. Prefer `write` on `dyn Store`: it
    /// also commits and retries.
    fn begin(&self, durability: Durability) -> Result<Box<dyn Tx + '_>, StoreError>;

    /// Opens the general lookups (sessions, keys, webhooks and badges), outside a transaction.
    fn lookup(&self) -> Result<Box<dyn Lookup + '_>, StoreError>;

    /// Opens the lookups for the owner of an account, outside a transaction.
    fn owner_lookup(&self) -> Result<Box<dyn OwnerLookup + '_>, StoreError>;

    /// Opens the lookups for operators, outside a transaction.
    fn operator_lookup(&self) -> Result<Box<dyn OperatorLookup + '_>, StoreError>;

    /// Returns a separate store for the thread that commits sends. The connection of this store is reserved, so the
    /// thread does not wait for connections that other threads use. `None` if the thread should use this store.
    fn for_committer(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(None)
    }

    /// Checks that the database responds and has the schema that this version of the service needs.
    fn check(&self) -> Result<(), StoreError>;

    /// Returns true if an embedded database can store less than `min_free_bytes` more. Counts the free space of the
    /// disk and the unused space inside the database. Always false for a database server.
    fn is_short_of_space(&self, min_free_bytes: u64) -> Result<bool, StoreError>;

    /// Reads the oldest envelopes from before `before`, up to `limit`, so that they are in memory when
    /// [`HousekeepingRepo::purge_envelopes`] deletes them. Does nothing on a database server, where other writes do not
    /// wait for that transaction.
    fn read_ahead(&self, _before: Timestamp, _limit: u32) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the oldest snapshot of another session. `None` if no snapshot keeps old row versions.
    fn oldest_snapshot(&self) -> Result<Option<OldestSnapshot>, StoreError> {
        Ok(None)
    }

    /// Returns true if all other writes wait for a running write transaction, as in SQLite.
    fn has_single_writer(&self) -> bool {
        false
    }
}

/// The oldest snapshot that the database must serve. The database keeps every row version that the snapshot may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldestSnapshot {
    /// The session, replica, prepared transaction or replication slot that has the snapshot.
    pub holder: String,
    /// Time since the start of its transaction; `None` if the database does not show it.
    pub age: Option<Duration>,
    /// Number of later transactions. 0 on SQLite.
    pub transactions: u64,
}

impl dyn Store + '_ {
    /// Runs `work` in one transaction, and commits if it returns `Ok`. Repeats the work if a concurrent transaction
    /// conflicts, up to three attempts in total.
    ///
    /// If `work` returns an error, the transaction is rolled back, including the usage counters. But a refused request
    /// must count against its limits. Therefore `work` must handle a refusal as follows:
    /// - Return the refusal as part of `T`, not as an error.
    /// - Decide on the refusal before any write, except for the usage counters.
    pub fn write<T>(
        &self,
        durability: Durability,
        mut work: impl FnMut(&mut dyn Tx) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut attempt = || {
            let mut tx = self.begin(durability)?;
            let value = work(&mut *tx)?;
            tx.commit()?;
            Ok(value)
        };
        for _ in 1..TRIES_MAX {
            match attempt() {
                Err(StoreError::Contended(_)) => {}
                done => return done,
            }
        }
        attempt()
    }
}

/// Maximum number of runs of the work in one call of `write`, if each run conflicts with a concurrent transaction.
const TRIES_MAX: u32 = 3;

/// All operations inside one transaction.
pub trait Tx:
    Lookup
    + AccountRepo
    + ActivityRepo
    + ApiTokenRepo
    + AuditRepo
    + BadgeRepo
    + DeliveryRepo
    + EnvelopeRepo
    + ErasureRepo
    + EventRepo
    + FormRepo
    + GovernanceRepo
    + HousekeepingRepo
    + InviteRepo
    + IssuerRepo
    + KeyRepo
    + NodeRepo
    + PolicyRepo
    + RelayRepo
    + RewrapRepo
    + SendLedger
    + WaitingRepo
    + WebhookRepo
{
    /// Commits the transaction. Dropping it instead rolls it back.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
