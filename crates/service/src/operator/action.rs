//! Admin actions. One transaction writes both the action and its entry in the audit trail, so neither exists without
//! the other.

use std::sync::Arc;

use sealpost_domain::{
    AccountId, ActivityKind, AdminAction, ApiKeyId, Clock, Handle, IllegalTransition,
    ports::{Durability, Store, StoreError, Tx},
};
use sealpost_wallet::WalletError;
use serde::Serialize;
use serde_json::json;

use super::{audit_chain::entry, encrypted_rows::EncryptedRows};
use crate::account::activity::{self, ActOrigin};

/// Errors of admin actions.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The key has another handle.
    #[error("the API key has the handle {0}: release it first")]
    HasHandle(Handle),
    /// A key that is not revoked has the handle.
    #[error("the handle belongs to {0}, which is not revoked: release the handle first")]
    HandleInUse(ApiKeyId),
    /// The state of the key forbids the action.
    #[error(transparent)]
    IllegalTransition(#[from] IllegalTransition),
    /// The version of the key-encryption key still encrypts rows.
    #[error(
        "key-encryption key version {version} encrypts {rows}: run `sealpost admin kek rotate` first"
    )]
    KekInUse {
        /// The version.
        version: u32,
        /// The rows.
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
    /// The wallet cannot decrypt or create a key.
    #[error("the wallet failed")]
    Wallet(#[from] WalletError),
}

/// An operator, who performs admin actions. The command line runs one action at a time, so these use cases block.
pub struct Operator {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) actor: String,
    process: Option<OperatorProcess>,
    /// The owner of an account who revokes a key of the account.
    owner: Option<ActOrigin>,
}

/// The process of an operator. The audit trail records it in the details of each action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorProcess {
    /// Effective user id, as the kernel knows it.
    pub uid: u32,
    /// User id of the caller of `sudo`, from the environment; `None` without `sudo`.
    pub sudo_uid: Option<u32>,
    /// Name of the user, from the environment. Not verified: anyone can set the variable.
    pub claimed: Option<String>,
}

impl Operator {
    /// Creates an operator. `actor` names the operator in the audit trail.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, actor: String) -> Self {
        Self { store, clock, actor, process: None, owner: None }
    }

    /// Revokes keys for the owner of an account. The activity of the account names the owner.
    pub(crate) fn for_owner(self, owner: ActOrigin) -> Self {
        Self { owner: Some(owner), ..self }
    }

    /// Adds the process to the details of every recorded action.
    #[must_use]
    pub fn of_process(self, process: OperatorProcess) -> Self {
        Self { process: Some(process), ..self }
    }

    /// Performs an action and records it. A refused action writes nothing.
    pub(super) fn perform<T>(
        &self,
        mut action: impl FnMut(
            &mut dyn Tx,
        ) -> Result<Result<(T, ActionRecord), OperatorError>, StoreError>,
    ) -> Result<T, OperatorError> {
        self.store.write(Durability::Durable, |tx| {
            // The newest entry is locked first, so that concurrent actions run one after the other.
            let head = tx.lock_audit_head()?;
            match action(tx)? {
                Err(refused) => Ok(Err(refused)),
                Ok((done, ActionRecord { action, subject, concerned, mut detail })) => {
                    self.record_activity(tx, &concerned, action, &subject)?;
                    if let (Some(process), Some(detail)) = (&self.process, detail.as_object_mut()) {
                        detail.insert("operator".to_owned(), json!(process));
                    }
                    let act = AdminAction {
                        actor: self.actor.clone(),
                        action: action.to_owned(),
                        subject,
                        detail: detail.to_string(),
                    };
                    tx.append_audit(&entry(head.as_ref(), act, self.clock.now()))?;
                    Ok(Ok(done))
                }
            }
        })?
    }

    /// Records the action in the activity of the account that it concerns.
    fn record_activity(
        &self,
        tx: &mut dyn Tx,
        concerned: &Concerned,
        action: &str,
        subject: &str,
    ) -> Result<(), StoreError> {
        let account = match concerned {
            Concerned::Account(account) => Some(*account),
            Concerned::Key(key) => tx.find_key(key)?.map(|key| key.account_id),
            Concerned::Service => None,
        };
        let Some(account) = account else { return Ok(()) };
        let (origin, kind, detail) = if let Some(owner) = &self.owner {
            (owner.clone(), ActivityKind::KeyRevoked, subject.to_owned())
        } else {
            let detail = format!("{action} {subject}");
            (ActOrigin::operator(account), ActivityKind::Operator, detail)
        };
        activity::record(tx, self.clock.now(), &origin, kind, Some(detail))
    }
}

/// Name, subject and details of an action for the audit trail.
pub(super) struct ActionRecord {
    pub(super) action: &'static str,
    pub(super) subject: String,
    /// The owner who sees the action in the activity of the account.
    pub(super) concerned: Concerned,
    pub(super) detail: serde_json::Value,
}

/// The account that an action concerns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Concerned {
    /// An account.
    Account(AccountId),
    /// The account of a key.
    Key(ApiKeyId),
    /// No single account.
    Service,
}
