//! What operators do: keys, plans, governance, the audit trail, re-encryption. Every act and its entry in the trail are
//! written in one transaction, so that there is never one without the other.

mod audit;
mod badge;
mod governance;
mod issuer;
mod key;
mod rewrap;

use std::sync::Arc;

use sealpost_domain::{
    AdminAction, Clock, IllegalTransition,
    ports::{Durability, Store, StoreError, Tx},
};
use sealpost_wallet::WalletError;

pub use audit::{AuditShown, AuditVerdict};
pub use badge::{AssessmentShown, Attest, AttestationShown, BadgeRevoked, Finding};
pub use governance::{DecisionShown, PartnerAssigned};
pub use issuer::{IssuerKeyShown, IssuerKeyStatus};
pub use key::{Agreement, KeyRevoked, KeyShown};
pub use rewrap::Rewrapped;

/// What an operator's act can fail with. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The state machine has no such move.
    #[error(transparent)]
    IllegalTransition(#[from] IllegalTransition),
    /// The decision is already so.
    #[error("{0}")]
    Pointless(&'static str),
    /// There is no such key, account or decision.
    #[error("there is no {0}; check the name")]
    NotFound(&'static str),
    /// The database failed.
    #[error("the database cannot be used")]
    Store(#[from] StoreError),
    /// Keys or roots do not decrypt.
    #[error("the wallet failed")]
    Wallet(#[from] WalletError),
}

/// An operator at work.
pub struct Operator {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    actor: String,
}

impl Operator {
    /// `actor` is what the trail says about who did it.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, actor: String) -> Self {
        Self { store, clock, actor }
    }

    /// Does something and writes it down, in one transaction. What `work` refuses writes nothing at all.
    fn act<T>(
        &self,
        mut work: impl FnMut(&mut dyn Tx) -> Result<Result<(T, Deed), OperatorError>, StoreError>,
    ) -> Result<T, OperatorError> {
        self.store.write(Durability::Durable, |tx| {
            // Taken first, so that two operators do one thing after the other.
            let head = tx.lock_audit_head()?;
            match work(tx)? {
                Err(refused) => Ok(Err(refused)),
                Ok((done, Deed { action, subject, detail })) => {
                    let act = AdminAction {
                        actor: self.actor.clone(),
                        action: action.to_owned(),
                        subject,
                        detail: detail.to_string(),
                    };
                    tx.append_audit(&audit::entry(head.as_ref(), act, self.clock.now()))?;
                    Ok(Ok(done))
                }
            }
        })?
    }
}

/// What an act is called in the trail, whom it was about, and what else matters.
struct Deed {
    action: &'static str,
    subject: String,
    detail: serde_json::Value,
}
