//! The ports: what the use cases ask of a database and of a dispatcher. Small synchronous traits, one per
//! aggregate; a transaction ([`Tx`]) joins those that a database implements.

use std::{collections::HashMap, sync::Arc};

use crate::{
    Account, AccountId, ApiKey, ApiKeyId, DeliveryId, Envelope, EnvelopeId, Handle, KeyStatus,
    LeaseToken, LeasedDelivery, Plan, Registration, Session, Settlement, Standing, Target,
    Timestamp, TokenHash, Usage, WebhookId, Wrapped,
};

/// What a store can fail with.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another transaction was in the way; nothing was written, and the same work may be tried again.
    #[error("another transaction was in the way")]
    Contended(#[source] BoxedError),
    /// What is stored does not make sense.
    #[error("the stored {0} cannot be read")]
    Corrupt(&'static str),
    /// The database refused a statement.
    #[error("the database refused a statement")]
    Refused(#[source] BoxedError),
    /// The database is away, or no connection came free in time.
    #[error("the database is away")]
    Unavailable(#[source] BoxedError),
}

/// A driver's error, kept for the log.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Whether a commit waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Once committed, it survives a crash of the machine.
    Durable,
    /// A crash of the machine may take back the newest of these, each whole: for what can be done again, such as
    /// writing down the outcome of an attempt.
    Relaxed,
}

/// A database.
pub trait Store: Send + Sync {
    /// Opens a transaction that may write; it is rolled back unless committed. Use `write` on `dyn Store` instead.
    fn begin(&self, durability: Durability) -> Result<Box<dyn Tx + '_>, StoreError>;

    /// Look-ups outside a transaction.
    fn lookup(&self) -> Result<Box<dyn Lookup + '_>, StoreError>;

    /// Whether the database answers and is at this version.
    fn check(&self) -> Result<(), StoreError>;
}

impl dyn Store + '_ {
    /// Runs `work` in one transaction and commits only when it returns `Ok`. Work that another transaction was in
    /// the way of runs again, three times at the most.
    ///
    /// A refusal is no error here: it is part of `T`, so that what was counted of a refused request is kept. Work
    /// therefore refuses before it writes anything else.
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

/// How often contended work is tried.
const TRIES_MAX: u32 = 3;

/// Everything that one transaction can do.
pub trait Tx: Lookup + AccountRepo + KeyRepo + SendLedger + EnvelopeRepo + WebhookRepo {
    /// Makes it so; dropping the transaction instead takes everything back.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// Look-ups that caches are filled from.
pub trait Lookup {
    /// The session of this token, also when it has expired; `None` once it was ended.
    fn find_session(&mut self, token: &TokenHash) -> Result<Option<Session>, StoreError>;

    /// `None` when no such key was ever issued; a revoked key is still found.
    fn find_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// The key that the handle leads to: the newest that was activated with it, also when that one is revoked.
    fn find_handle(&mut self, handle: &Handle) -> Result<Option<HandleOwner>, StoreError>;

    /// The hash of the account's login secret.
    fn find_login_secret(&mut self, account: &AccountId) -> Result<Option<TokenHash>, StoreError>;
}

/// Whose a handle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleOwner {
    /// The account that it is reserved to.
    pub account_id: AccountId,
    /// The key that it leads to.
    pub api_key_id: ApiKeyId,
}

/// Accounts and their sessions.
pub trait AccountRepo {
    /// Opens an account.
    fn insert_account(&mut self, account: &Account) -> Result<(), StoreError>;

    /// Makes every other transaction that locks this account wait until this one ends; `false` where there is no
    /// such account.
    fn lock_account(&mut self, id: &AccountId) -> Result<bool, StoreError>;

    /// Begins a session.
    fn insert_session(&mut self, session: &Session) -> Result<(), StoreError>;

    /// Ends the session of this token.
    fn delete_session(&mut self, token: &TokenHash) -> Result<(), StoreError>;

    /// Ends every session of the account.
    fn delete_sessions_of(&mut self, account: &AccountId) -> Result<(), StoreError>;
}

/// Keys and handles.
pub trait KeyRepo {
    /// Activates a key, with nothing used.
    fn insert_key(&mut self, key: &ApiKey) -> Result<(), StoreError>;

    /// How many keys of the account are not revoked.
    fn count_live_keys(&mut self, account: &AccountId) -> Result<u64, StoreError>;

    /// Leads the handle to `owner`, whoever had it before; the caller has checked that this may be. A handle that
    /// somebody else took at the same time is [`StoreError::Contended`].
    fn assign_handle(&mut self, handle: &Handle, owner: &HandleOwner) -> Result<(), StoreError>;

    /// How many registrations the key has.
    fn count_registrations(&mut self, key: &ApiKeyId) -> Result<u64, StoreError>;
}

/// Envelopes that were stored.
pub trait EnvelopeRepo {
    /// The envelope, if it is addressed to `recipient`, and when it was first opened.
    fn find_envelope(
        &mut self,
        id: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<(Envelope, Option<Timestamp>)>, StoreError>;

    /// Writes down the first opening and answers when it was: `at`, or an earlier one, which stays.
    fn mark_opened(&mut self, id: &EnvelopeId, at: Timestamp) -> Result<Timestamp, StoreError>;
}

/// Webhook registrations.
pub trait WebhookRepo {
    /// Adds a registration.
    fn insert_registration(&mut self, registration: &Registration) -> Result<(), StoreError>;

    /// The key's registrations, oldest first.
    fn list_registrations(&mut self, key: &ApiKeyId) -> Result<Vec<Registration>, StoreError>;

    /// Deletes a registration of this key with its deliveries; `false` where the key has none with this id.
    fn delete_registration(&mut self, key: &ApiKeyId, id: &WebhookId) -> Result<bool, StoreError>;
}

/// What the send path reads and writes, for a whole batch at once. Every other authenticated request is admitted
/// through it too, as a batch of one.
pub trait SendLedger {
    /// Reads everything that admission depends on, and locks it until the transaction ends: no key changes its
    /// status, and no caller's usage is counted elsewhere, in the meantime. Locks are taken in the order of ids.
    fn lock_facts(&mut self, wanted: &Wanted) -> Result<Facts, StoreError>;

    /// Writes what was decided.
    fn apply(&mut self, changes: &Changes) -> Result<(), StoreError>;
}

/// What a batch asks about. No duplicates, in the order of ids.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The callers' sessions.
    pub sessions: Vec<TokenHash>,
    /// The callers' keys.
    pub callers: Vec<ApiKeyId>,
    /// The recipients' keys.
    pub recipients: Vec<ApiKeyId>,
}

/// What a batch is decided on. What does not exist is absent.
#[derive(Debug, Default)]
pub struct Facts {
    /// The sessions asked about, expired ones too.
    pub sessions: HashMap<TokenHash, Session>,
    /// Callers and recipients.
    pub keys: HashMap<ApiKeyId, KeyFacts>,
    /// What each caller has used.
    pub usage: HashMap<ApiKeyId, Usage>,
    /// The enabled registrations of each recipient that has any.
    pub targets: HashMap<ApiKeyId, Vec<Arc<Target>>>,
}

/// What admission depends on, of one key.
#[derive(Debug, Clone)]
pub struct KeyFacts {
    /// Whose it is.
    pub account_id: AccountId,
    /// Where it stands.
    pub status: KeyStatus,
    /// What limits it.
    pub plan: Plan,
    /// The handle that leads to it; `None` where another key has taken it over.
    pub handle: Option<Handle>,
    /// The newest sealing key's version.
    pub sealing_version: u32,
    /// Where it stands with governance.
    pub standing: Standing,
}

/// What a batch decided.
#[derive(Debug, Default)]
pub struct Changes {
    /// Envelopes to store.
    pub envelopes: Vec<Arc<Envelope>>,
    /// Their deliveries, which this node holds.
    pub leased: Vec<LeasedDelivery>,
    /// Their deliveries that this node has no room for: due at once, held by nobody.
    pub unleased: Vec<LeasedDelivery>,
    /// What each caller has used now.
    pub usage: Vec<(ApiKeyId, Usage)>,
}

/// The deliveries that are due: what the dispatcher asks of a database.
pub trait Outbox: Send + Sync {
    /// Takes up to `limit` deliveries that are due at `now`, and holds them until `lease_until` under `lease`.
    /// A delivery whose lease ran out is due. One whose registration or envelope is gone is deleted instead.
    fn claim(&self, claim: &Claim) -> Result<Vec<LeasedDelivery>, StoreError>;

    /// Writes outcomes down, each only where its lease still holds: a worker that stalled past its lease cannot
    /// overwrite its successor.
    fn settle(&self, settlements: &[Settlement]) -> Result<(), StoreError>;

    /// Gives deliveries back that are still held: due at once, held by nobody.
    fn release(&self, held: &[(DeliveryId, LeaseToken)], now: Timestamp) -> Result<(), StoreError>;
}

/// What a claim takes.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// The present instant.
    pub now: Timestamp,
    /// How many at the most.
    pub limit: usize,
    /// The proof that this claim's deliveries will carry.
    pub lease: LeaseToken,
    /// When others may take them.
    pub lease_until: Timestamp,
}

/// The dispatcher, as the send path sees it.
pub trait Dispatch: Send + Sync {
    /// How many deliveries it has room for.
    fn room(&self) -> usize;

    /// A fresh proof for deliveries that are about to be stored, and until when they may be held.
    fn lease(&self) -> (LeaseToken, Timestamp);

    /// Takes deliveries that are stored and leased to this node. Never blocks.
    fn submit(&self, deliveries: Vec<LeasedDelivery>);
}

/// Judges where a registration may lead. May resolve a name, and so block for a bounded time.
pub trait TargetGuard: Send + Sync {
    /// The canonical form of an acceptable URL, or what is wrong with it as a clause that follows "url".
    fn vet(&self, url: &str) -> Result<String, String>;
}

/// Key-encryption keys leave a mark in the database, so that a wrong or missing one is noticed at start-up.
pub trait KekMarks {
    /// The marks left so far, by version.
    fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError>;

    /// Leaves the mark of a version; one that is there already stays as it is.
    fn leave_kek_mark(&self, version: u32, mark: &Wrapped) -> Result<(), StoreError>;
}
