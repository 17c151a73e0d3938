//! Performs the acts that the audit trail records: all acts of operators, and the acts by which an owner revokes a key
//! or closes the account. One transaction stores the act and its entry in the audit trail, so neither exists without
//! the other.

use std::{net::IpAddr, sync::Arc};

use sealpost_domain::{
    AccountId, ActivityKind, AdminAction, ApiKeyId, Clock, Handle, IllegalTransition, Timestamp,
    ports::{Durability, StoreError},
};
use sealpost_storage::{Abort, Database, Transaction};
use sealpost_wallet::WalletError;
use serde::Serialize;
use serde_json::{Value, json};

use super::audit_chain::entry;
use crate::{
    account::activity::{self, ActOrigin},
    issuer::signer::KEYS_MAX,
    operator::{encryption::encrypted_rows::EncryptedRows, guarded_state::GuardedState},
};

/// The reason that an operator's action was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The key already has a handle.
    #[error("the API key has the handle {0}: release it first")]
    HasHandle(Handle),
    /// The handle belongs to a key that is not revoked.
    #[error("the handle belongs to {0}, which is not revoked: release the handle first")]
    HandleInUse(ApiKeyId),
    /// The state of the key forbids the action.
    #[error(transparent)]
    IllegalTransition(#[from] IllegalTransition),
    /// The service has the maximum number of issuer keys, its own signing keys.
    #[error("there are {KEYS_MAX} issuer keys already, which is the maximum")]
    IssuerKeysFull,
    /// Rows are still encrypted under this version of the key-encryption key.
    #[error(
        "key-encryption key version {version} encrypts {rows}: run `sealpost admin kek rotate` first"
    )]
    KekInUse {
        /// The version of the key-encryption key.
        version: u32,
        /// The numbers of rows that are still encrypted under this version.
        rows: EncryptedRows,
    },
    /// The action would change nothing.
    #[error("{0}")]
    Pointless(&'static str),
    /// The key, account or decision does not exist.
    #[error("there is no {0}; check the name")]
    NotFound(&'static str),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// A key could not be decrypted or created.
    #[error("the wallet failed")]
    Wallet(#[from] WalletError),
}

impl From<OperatorError> for Abort<OperatorError> {
    fn from(error: OperatorError) -> Self {
        Self::Refused(error)
    }
}

impl From<Abort<OperatorError>> for OperatorError {
    fn from(abort: Abort<OperatorError>) -> Self {
        match abort {
            Abort::Refused(error) => error,
            Abort::Store(error) => error.into(),
        }
    }
}

/// Performs the actions of one operator. All functions block the thread, so the server calls them on the blocking pool.
#[derive(Clone)]
pub struct Operator {
    pub(crate) store: Arc<Database>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) actor: String,
    origin: Option<OperatorOrigin>,
    /// The reason that is recorded with each action, unless the action has a reason of its own.
    reason: Option<String>,
    /// States that must still have these texts. Otherwise each action is refused.
    guards: Vec<(GuardedState, String)>,
}

/// The origin of an operator's actions. The audit trail records the origin with each action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum OperatorOrigin {
    /// The client with which an operator uses the console or the operator API.
    Client {
        client_address: Option<IpAddr>,
    },
    Process(OperatorProcess),
}

/// The operating-system process in which an operator runs a command. The audit trail records these values with each
/// action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorProcess {
    /// Effective user id, from the kernel.
    pub uid: u32,
    /// Id of the user who called `sudo`, from the environment. `None` without `sudo`.
    pub sudo_uid: Option<u32>,
    /// Name of the user, from the environment. Not verified, because anyone can set the variable.
    pub claimed: Option<String>,
}

impl Operator {
    /// Creates an operator. The audit trail records `actor` as the name of the operator.
    pub fn new(store: Arc<Database>, clock: Arc<dyn Clock>, actor: String) -> Self {
        Self { store, clock, actor, origin: None, reason: None, guards: Vec::new() }
    }

    /// Sets the process in which the operator runs the command. The audit trail records the process with each action.
    #[must_use]
    pub fn by_process(self, process: OperatorProcess) -> Self {
        Self { origin: Some(OperatorOrigin::Process(process)), ..self }
    }

    /// Sets the address of the operator's client (`None` if unknown), and the reason. The audit trail records both with
    /// each action.
    #[must_use]
    pub fn by_client(self, client_address: Option<IpAddr>, reason: Option<String>) -> Self {
        Self { origin: Some(OperatorOrigin::Client { client_address }), reason, ..self }
    }

    /// Sets the reason. The audit trail records the reason with each action.
    #[must_use]
    pub fn giving_reason(self, reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..self }
    }

    /// Returns the current text of a state. A page puts the text into its form, and passes it to
    /// [`if_unchanged`](Self::if_unchanged) when the form is sent.
    pub fn state_text(&self, state: &GuardedState) -> Result<String, OperatorError> {
        Ok(self.store.read(|reader| state.text(reader))?)
    }

    /// Returns an operator whose actions are refused if the state has changed since a page showed it. `shown` is the
    /// text that [`state_text`](Self::state_text) returned for the page; an empty text is no condition. The transaction
    /// of each action checks the condition.
    #[must_use]
    pub fn if_unchanged(&self, state: GuardedState, shown: &str) -> Self {
        let mut operator = self.clone();
        if !shown.is_empty() {
            operator.guards.push((state, shown.to_owned()));
        }
        operator
    }

    fn refuse_changed_state(&self, tx: &mut Transaction) -> Result<(), Abort<OperatorError>> {
        for (state, shown) in &self.guards {
            if state.text(tx)? != *shown {
                return Err(OperatorError::Pointless(state.changed()).into());
            }
        }
        Ok(())
    }

    /// Performs an action and records it in the audit trail. A refused action writes nothing.
    pub(crate) fn perform<T>(
        &self,
        mut action: impl FnMut(&mut Transaction) -> Result<(T, ActionRecord), Abort<OperatorError>>,
    ) -> Result<T, OperatorError> {
        let author = Author::Operator(self);
        let performed = perform(&self.store, &*self.clock, &author, |tx| {
            self.refuse_changed_state(tx)?;
            action(tx)
        });
        performed.map_err(OperatorError::from)
    }

    /// Adds the origin of the operator to the details of an action. Also adds the reason of the operator, unless the
    /// details already contain a reason.
    fn complete(&self, detail: &mut Value) {
        let Some(detail) = detail.as_object_mut() else { return };
        if let Some(origin) = &self.origin {
            detail.insert("operator".to_owned(), json!(origin));
        }
        if let Some(reason) = &self.reason {
            detail.entry("reason").or_insert_with(|| json!(reason));
        }
    }
}

/// The author of an action in the audit trail.
pub(crate) enum Author<'a> {
    Operator(&'a Operator),
    /// The owner of this account.
    Owner(AccountId),
}

/// The name, subject (affected object) and details of an action, for the audit trail.
pub(crate) struct ActionRecord {
    action: &'static str,
    subject: String,
    concerned: Concerned,
    detail: Value,
}

/// The account that an action concerns. The activity log of this account gets an entry if an operator performs the
/// action.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Concerned {
    Account(AccountId),
    /// The account of a key.
    Key(ApiKeyId),
    /// No single account: the action changes only the service, or concerns all accounts. No activity log gets an entry.
    Service,
}

/// Performs an action and records it in the audit trail, in one transaction. A refused action writes nothing.
pub(crate) fn perform<T, R>(
    store: &Database,
    clock: &dyn Clock,
    author: &Author<'_>,
    mut action: impl FnMut(&mut Transaction) -> Result<(T, ActionRecord), Abort<R>>,
) -> Result<T, Abort<R>> {
    store.write_or_refuse(Durability::Durable, |tx| {
        // Locks the newest entry first, so that concurrent actions run one after the other.
        let head = tx.lock_audit_head()?;
        let (done, record) = action(tx)?;
        author.record_activity(tx, clock.now(), &record)?;
        tx.append_audit(&entry(head.as_ref(), author.sign(record), clock.now()))?;
        Ok(done)
    })
}

impl Author<'_> {
    /// Converts the record of an action to an entry for the audit trail, with the author. For an operator, also adds
    /// the origin and the reason to the details of the action.
    fn sign(&self, record: ActionRecord) -> AdminAction {
        let ActionRecord { action, subject, mut detail, .. } = record;
        let actor = match self {
            Self::Operator(operator) => {
                operator.complete(&mut detail);
                operator.actor.clone()
            }
            Self::Owner(account) => format!("account:{account}"),
        };
        AdminAction { actor, action: action.to_owned(), subject, detail: detail.to_string() }
    }

    /// Stores an operator's action in the activity log of the account that the action concerns. Stores nothing for an
    /// action of an owner, for [`Concerned::Service`], and for a closed account.
    fn record_activity(
        &self,
        tx: &mut Transaction,
        now: Timestamp,
        record: &ActionRecord,
    ) -> Result<(), StoreError> {
        let account = match (self, record.concerned) {
            (Self::Owner(_), _) | (_, Concerned::Service) => None,
            (Self::Operator(_), Concerned::Account(account)) => Some(account),
            (Self::Operator(_), Concerned::Key(key)) => {
                tx.find_key(&key)?.map(|key| key.account_id)
            }
        };
        let Some(account) = account else { return Ok(()) };
        let mut detail = format!("{} {}", record.action, record.subject);
        // The entry shows the new plan to the owner. The other details are only for operators.
        if let ("plan.set", Some(plan)) =
            (record.action, record.detail.get("to").and_then(Value::as_str))
        {
            detail = format!("{detail} {plan}");
        }
        record_operator_act(tx, now, account, detail)
    }
}

/// Stores an act of an operator in the activity log of an account. Stores nothing for a closed account: its owner
/// cannot read the entry, and an erased account must have none.
pub(super) fn record_operator_act(
    tx: &mut Transaction,
    now: Timestamp,
    account: AccountId,
    detail: String,
) -> Result<(), StoreError> {
    if !tx.is_open_account(&account)? {
        return Ok(());
    }
    let origin = ActOrigin::operator(account);
    activity::record(tx, now, &origin, ActivityKind::Operator, Some(detail))
}

impl ActionRecord {
    pub(crate) fn new(
        action: &'static str,
        subject: &(impl ToString + ?Sized),
        concerned: Concerned,
        detail: Value,
    ) -> Self {
        Self { action, subject: subject.to_string(), concerned, detail }
    }

    /// Creates the record of an action on a key.
    pub(crate) fn on_key(action: &'static str, key: &ApiKeyId, detail: Value) -> Self {
        Self::new(action, key, Concerned::Key(*key), detail)
    }

    /// Creates the record of an action on an account.
    pub(crate) fn on_account(action: &'static str, account: &AccountId, detail: Value) -> Self {
        Self::new(action, account, Concerned::Account(*account), detail)
    }
}
