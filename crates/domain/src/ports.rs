//! The ports: what the use cases ask of a database and of a dispatcher. Small synchronous traits, one per
//! aggregate; a transaction ([`Tx`]) joins those that a database implements.

mod badges;
mod dispatching;
mod housekeeping;
mod ledger;
mod owner;
mod webhooks;

pub use badges::{BadgeLookup, BadgeRepo};
pub use dispatching::{Claim, Dispatch, EventSigner, ExpeditedDelivery, Outbox, TargetGuard};
pub use housekeeping::{HousekeepingRepo, HousekeepingTurn};
pub use ledger::{
    AdmissionFacts, FactsQuery, IdempotencyRecord, KeyFacts, NewIdempotencyRecord, OverageCount,
    ParkedDelivery, RecipientWebhooks, SendLedger, WriteSet,
};
pub use owner::{DailyCount, KeyOverview, OwnerLookup};
pub use webhooks::{DeliveryRepo, FailureRange, RecoverySummary, WebhookLookup, WebhookRepo};

use crate::{
    Account, AccountId, ApiKey, ApiKeyId, AuditEntry, Channel, ChannelId, Envelope, EnvelopeId,
    GovernanceDecision, GovernanceSubject, Handle, IssuerKey, IssuerKeyId, KeyStatus, PartnerId,
    Plan, Session, Timestamp, TokenHash, WebhookId, Wrapped,
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
    /// The answer to a commit was lost: it may have been carried out, or may not. Only what may happen twice is tried again.
    #[error("the answer to the commit was lost, so that it may have been carried out")]
    InDoubt(#[source] BoxedError),
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

    /// What an account's owner looks at, outside a transaction.
    fn owner_lookup(&self) -> Result<Box<dyn OwnerLookup + '_>, StoreError>;

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
pub trait Tx:
    Lookup
    + AccountRepo
    + AuditRepo
    + BadgeRepo
    + DeliveryRepo
    + EnvelopeRepo
    + GovernanceRepo
    + HousekeepingRepo
    + IssuerRepo
    + KeyRepo
    + RewrapRepo
    + SendLedger
    + WebhookRepo
{
    /// Makes it so; dropping the transaction instead takes everything back.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// Look-ups that caches are filled from.
pub trait Lookup: BadgeLookup + WebhookLookup {
    /// The session of this token, also when it has expired; `None` once it was ended.
    fn find_session(&mut self, token: &TokenHash) -> Result<Option<Session>, StoreError>;

    /// The same for many tokens at once: the sessions that there are, in no order.
    fn find_sessions(&mut self, tokens: &[TokenHash]) -> Result<Vec<Session>, StoreError>;

    /// `None` when no such key was ever issued; a revoked key is still found.
    fn find_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Where those of these keys stand that were ever issued, in no order.
    fn find_key_snapshots(&mut self, ids: &[ApiKeyId]) -> Result<Vec<KeySnapshot>, StoreError>;

    /// The key that the handle leads to: the newest that was activated with it, also when that one is revoked.
    fn find_handle(&mut self, handle: &Handle) -> Result<Option<HandleOwner>, StoreError>;

    /// The hash of the account's login secret.
    fn find_login_secret(&mut self, account: &AccountId) -> Result<Option<TokenHash>, StoreError>;

    /// Every issuer key, in the order in which they sign.
    fn issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError>;
}

/// Where a key stands, as far as its secrets are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySnapshot {
    /// Which key.
    pub id: ApiKeyId,
    /// Only of an active key anything is begun; of a revoked one nothing is kept.
    pub status: KeyStatus,
    /// What is sealed to it, is sealed to this version.
    pub sealing_version: u32,
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

    /// Replaces the account's login secret.
    fn set_login_secret(
        &mut self,
        account: &AccountId,
        secret: &TokenHash,
    ) -> Result<(), StoreError>;

    /// Makes the account belong to a partner, or to none; `false` where there is no such account.
    fn set_partner(
        &mut self,
        account: &AccountId,
        partner: Option<&PartnerId>,
    ) -> Result<bool, StoreError>;
}

/// Keys and handles.
pub trait KeyRepo {
    /// Activates a key, with nothing used.
    fn insert_key(&mut self, key: &ApiKey) -> Result<(), StoreError>;

    /// How many keys of the account are not revoked.
    fn count_live_keys(&mut self, account: &AccountId) -> Result<u64, StoreError>;

    /// Leads the handle to `owner`, within its account, or from nobody; the caller has checked that this may be. A
    /// handle that somebody else took at the same time is [`StoreError::Contended`].
    ///
    /// From nobody only to a key that is new: batches remember that a key has no handle, and are not told.
    fn assign_handle(&mut self, handle: &Handle, owner: &HandleOwner) -> Result<(), StoreError>;

    /// How many webhooks the key has.
    fn count_webhooks(&mut self, key: &ApiKeyId) -> Result<u64, StoreError>;

    /// The key, locked alone until the transaction ends: nobody else changes it, and who holds it is waited for. Batches
    /// that rely on it are waited for at the commit of what changes it.
    fn lock_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Moves a key that was locked to another state, which the state machine has allowed.
    fn set_status(&mut self, id: &ApiKeyId, status: KeyStatus) -> Result<(), StoreError>;

    /// Seals to this version of a locked key from now on.
    fn set_sealing_version(&mut self, id: &ApiKeyId, version: u32) -> Result<(), StoreError>;

    /// Puts a locked key on a plan; what it has used stays.
    fn set_plan(&mut self, id: &ApiKeyId, plan: &Plan) -> Result<(), StoreError>;

    /// Revokes a locked key: its state is `revoked`, its root is gone, and so are its webhooks and their
    /// deliveries, of which a bounded part is deleted at once. Its handle stays reserved to its account.
    fn revoke_key(&mut self, id: &ApiKeyId) -> Result<RevocationSummary, StoreError>;
}

/// What went with a key that was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevocationSummary {
    /// Its webhooks.
    pub webhooks: u64,
    /// Their deliveries that were deleted at once; housekeeping deletes what is left of a long backlog.
    pub deliveries: u64,
}

/// What operators decided.
pub trait GovernanceRepo {
    /// The decisions on exactly this subject that have not been lifted.
    fn open_decisions(
        &mut self,
        subject: &GovernanceSubject,
    ) -> Result<Vec<GovernanceDecision>, StoreError>;

    /// Writes down a new decision.
    fn insert_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError>;

    /// Moves a decision on: its status, why, since when and by whom.
    fn update_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError>;

    /// How many accounts belong to the partner.
    fn count_accounts_of(&mut self, partner: &PartnerId) -> Result<u64, StoreError>;
}

/// The audit trail. Entries are only ever added, and the database refuses to change or delete one.
pub trait AuditRepo {
    /// The newest entry; until the transaction ends nobody else can add one.
    fn lock_audit_head(&mut self) -> Result<Option<AuditEntry>, StoreError>;

    /// Adds an entry, whose number follows the newest one's.
    fn append_audit(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;

    /// Up to `limit` entries with a number above `after`, in order.
    fn audit_entries(&mut self, after: u64, limit: u32) -> Result<Vec<AuditEntry>, StoreError>;

    /// The newest entries, `limit` at the most, in order.
    fn newest_audit_entries(&mut self, limit: u32) -> Result<Vec<AuditEntry>, StoreError>;
}

/// The service's own keys.
pub trait IssuerRepo {
    /// Every issuer key, in the order in which they sign; until the transaction ends nobody else can add one.
    fn lock_issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError>;

    /// Adds a key.
    fn insert_issuer_key(&mut self, key: &IssuerKey) -> Result<(), StoreError>;
}

/// What is encrypted under key-encryption keys, for re-encrypting it.
pub trait RewrapRepo {
    /// Up to `limit` roots of keys with an id above `after`, in the order of ids.
    fn roots_after(
        &mut self,
        after: Option<&ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<(ApiKeyId, Wrapped)>, StoreError>;

    /// Replaces a root that is still `old`; `false` where it is not.
    fn replace_root(
        &mut self,
        id: &ApiKeyId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;

    /// The signing secrets of up to `limit` webhooks with an id above `after`, in the order of ids; those that
    /// retire are among them.
    fn secrets_after(
        &mut self,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Vec<(WebhookId, Wrapped)>, StoreError>;

    /// Replaces a signing secret that is still `old`, whether it retires by now or not; `false` where there is none.
    fn replace_secret(
        &mut self,
        id: &WebhookId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;

    /// Up to `limit` secrets of issuer keys with an id above `after`, in the order of ids.
    fn issuer_secrets_after(
        &mut self,
        after: Option<&IssuerKeyId>,
        limit: u32,
    ) -> Result<Vec<(IssuerKeyId, Wrapped)>, StoreError>;

    /// Replaces the secret of an issuer key that is still `old`; `false` where it is not.
    fn replace_issuer_secret(
        &mut self,
        id: &IssuerKeyId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;
}

/// Envelopes that were stored.
pub trait EnvelopeRepo {
    /// The envelope, if it is addressed to `recipient`, and when it was first opened.
    fn find_envelope(
        &mut self,
        id: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<(Envelope, Option<Timestamp>)>, StoreError>;

    /// The channel that an envelope was sealed under.
    fn find_channel(&mut self, id: &ChannelId) -> Result<Option<Channel>, StoreError>;

    /// Writes down the first opening and answers when it was: `at`, or an earlier one, which stays.
    fn mark_opened(&mut self, id: &EnvelopeId, at: Timestamp) -> Result<Timestamp, StoreError>;
}

/// Key-encryption keys leave a mark in the database, so that a wrong or missing one is noticed at start-up.
pub trait KekMarks {
    /// The marks left so far, by version.
    fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError>;

    /// Leaves the mark of a version; one that is there already stays as it is, so that whoever leaves one reads it again.
    fn insert_kek_mark(&self, version: u32, mark: &Wrapped) -> Result<(), StoreError>;
}
