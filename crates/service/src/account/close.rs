//! Closing of an account, by its owner or by an operator.
//!
//! The first transaction makes the account unusable. Further transactions delete the rows of the account in portions of
//! limited size, because a long transaction would delay sends. If the closing is interrupted, housekeeping deletes the
//! rows that are left.

use std::sync::Arc;

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, RequestSource, Timestamp,
    ports::{ClosingExtent, DeletedRows},
};
use sealpost_storage::Abort;
use serde::Serialize;

use super::{
    recovery::{OwnerProof, check_owner, record_wrong_secret},
    session::NO_LOGIN,
};
use crate::{
    cache::event::CacheEvent,
    caller::authenticated::AccountSession,
    error::Error,
    operator::action::{Operator, OperatorError},
    sealpost::{Sealpost, core::Core},
};

/// The result of closing an account.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct AccountClosed {
    /// Id of the closed account.
    pub account_id: AccountId,
    /// Time at which the account was closed.
    pub closed_at: Timestamp,
    /// Whether the personal data of the owner, such as labels and handles, was erased too.
    pub erased: bool,
    /// Whether all rows are deleted. If not, housekeeping deletes the remaining rows.
    pub complete: bool,
    /// Number of deleted rows of each kind.
    pub deleted: DeletedRows,
    /// The data that is kept, with the reasons.
    pub kept: Vec<KeptData>,
}

/// Data that is kept after an account was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct KeptData {
    /// Description of the data.
    pub data: &'static str,
    /// The reason for keeping the data.
    pub reason: &'static str,
    /// The end of the storage: a period, or the command that deletes the data.
    pub until: &'static str,
}

impl AccountClosed {
    pub(crate) fn new(
        account_id: AccountId,
        closed_at: Timestamp,
        extent: ClosingExtent,
        deleted: DeletedRows,
        complete: bool,
    ) -> Self {
        let erased = extent == ClosingExtent::Erase;
        let kept = if erased { KEPT.to_vec() } else { [&KEPT_UNLESS_ERASED[..], &KEPT].concat() };
        Self { account_id, closed_at, erased, complete, deleted, kept }
    }
}

impl Sealpost {
    /// Closes the account of the session permanently, and erases the personal data of its owner. Requires the login
    /// secret, so that a stolen session is not sufficient to close the account.
    pub async fn close_account(
        &self,
        session: &AccountSession,
        login_secret: String,
        source: RequestSource,
    ) -> Result<AccountClosed, Error> {
        let session = *session;
        self.block(move |core| core.close_account(&session, login_secret, &source)).await
    }
}

impl Core {
    fn close_account(
        &self,
        session: &AccountSession,
        login_secret: String,
        source: &RequestSource,
    ) -> Result<AccountClosed, Error> {
        let account = session.account_id;
        let actor = format!("account:{account}");
        let operator = Operator::new(Arc::clone(&self.store), Arc::clone(&self.clock), actor);
        let proof = OwnerProof::Secret(login_secret);
        let closed =
            operator.erase_if(&account, |tx| match check_owner(self, tx, session, &proof) {
                Ok(()) => Ok(()),
                Err(Abort::Refused(refusal)) => Err(OperatorError::from(refusal).into()),
                Err(Abort::Store(error)) => Err(error.into()),
            });
        // The cache is invalidated even after an error, because the first transactions may have been committed.
        self.cache.invalidate_on(CacheEvent::AccountLoggedOut(&account));
        let closed = closed.map_err(|error| match error {
            OperatorError::Refused(refusal) => Abort::from(refusal),
            OperatorError::Store(fault) => fault.into(),
            _ => NO_LOGIN.into(),
        });
        record_wrong_secret(self, session, source, "closing the account", &closed)?;
        Ok(closed?)
    }
}

const RETENTION: &str = "the end of retention";
const PERMANENTLY: &str = "permanently";

const KEPT_UNLESS_ERASED: [KeptData; 2] = [
    KeptData {
        data: "labels and handles of the keys",
        reason: "the handles stay reserved, and earlier correspondents recognise the keys",
        until: "`sealpost admin account erase`",
    },
    KeptData {
        data: "activity with client addresses",
        reason: "the operator can investigate misuse",
        until: "90 days after each act, or `sealpost admin account erase`",
    },
];

const KEPT: [KeptData; 8] = [
    KeptData {
        data: "account id, and times of opening and closing",
        reason: "other records refer to the account",
        until: PERMANENTLY,
    },
    KeptData {
        data: "keys: id, DID, status, plan, usage, overage, and the policy without its lists",
        reason: "other people's envelopes and badges refer to the keys; the DID stays on record",
        until: PERMANENTLY,
    },
    KeptData {
        data: "envelopes sent by the account",
        reason: "their recipients can still open them",
        until: RETENTION,
    },
    KeptData {
        data: "envelopes sent to the account, which nobody can open",
        reason: "their senders can still see the state",
        until: RETENTION,
    },
    KeptData {
        data: "events that were announced to others, some with a handle of the account",
        reason: "the receivers may not have received them yet",
        until: RETENTION,
    },
    KeptData {
        data: "hashes of erased handles",
        reason: "no other account may receive messages for the handle",
        until: PERMANENTLY,
    },
    KeptData {
        data: "governance, assessments, attestations and badges",
        reason: "they prove decisions, and the database refuses changes",
        until: PERMANENTLY,
    },
    KeptData {
        data: "the audit trail of operators, which may contain a handle that an operator assigned",
        reason: "it is a hash chain, and the database refuses changes",
        until: PERMANENTLY,
    },
];
