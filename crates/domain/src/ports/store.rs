//! The store and its transactions.

use super::{
    accounts::AccountRepo,
    activity::ActivityRepo,
    api_tokens::ApiTokenRepo,
    badges::BadgeRepo,
    envelopes::EnvelopeRepo,
    erasure::ErasureRepo,
    error::StoreError,
    events::EventRepo,
    governance::{AuditRepo, GovernanceRepo},
    housekeeping::HousekeepingRepo,
    invites::InviteRepo,
    keys::KeyRepo,
    ledger::SendLedger,
    lookup::{Lookup, OperatorLookup},
    owner::OwnerLookup,
    policies::PolicyRepo,
    secrets::{IssuerRepo, RewrapRepo},
    waiting::WaitingRepo,
    webhooks::{DeliveryRepo, WebhookRepo},
};

/// Whether a commit waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The transaction survives a crash of the machine.
    Durable,
    /// A crash of the machine may lose the newest transactions, each as a whole. Use this for work that can be
    /// repeated, such as recording the outcome of an attempt.
    Relaxed,
}

/// A database. Opens transactions and lookups.
pub trait Store: Send + Sync {
    /// Begins a transaction that may write. Dropping it rolls back. Prefer `write` on `dyn Store`.
    fn begin(&self, durability: Durability) -> Result<Box<dyn Tx + '_>, StoreError>;

    /// Opens lookups outside a transaction.
    fn lookup(&self) -> Result<Box<dyn Lookup + '_>, StoreError>;

    /// Opens the lookups of an account's owner, outside a transaction.
    fn owner_lookup(&self) -> Result<Box<dyn OwnerLookup + '_>, StoreError>;

    /// Opens the lookups of operators, outside a transaction.
    fn operator_lookup(&self) -> Result<Box<dyn OperatorLookup + '_>, StoreError>;

    /// Returns a separate store for the thread that commits sends; `None` if that thread should use this store. The
    /// transactions of the separate store use a connection that no other caller can take.
    fn for_committer(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(None)
    }

    /// Checks that the database responds and has this version's schema.
    fn check(&self) -> Result<(), StoreError>;

    /// Returns whether an embedded database has less than this space. Counts the free space of its
    /// disk, and the unused space inside the database. Always `false` for a database server.
    fn is_short_of_space(&self, min_free_bytes: u64) -> Result<bool, StoreError>;
}

impl dyn Store + '_ {
    /// Runs `work` in one transaction and commits if it returns `Ok`. Repeats contended work, up to three attempts in
    /// total.
    ///
    /// A refusal is part of `T` and not an error, so that the transaction still stores the usage of a refused request.
    /// Work must therefore decide on a refusal before it writes anything else.
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

/// Maximum number of attempts at contended work.
const TRIES_MAX: u32 = 3;

/// All operations of one transaction.
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
    + GovernanceRepo
    + HousekeepingRepo
    + InviteRepo
    + IssuerRepo
    + KeyRepo
    + PolicyRepo
    + RewrapRepo
    + SendLedger
    + WaitingRepo
    + WebhookRepo
{
    /// Commits. Dropping the transaction instead rolls back.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
