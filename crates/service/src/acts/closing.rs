//! Closing of an account, by its owner or by an operator.
//!
//! The first transaction makes the account unusable. Further transactions delete the rows of the account in portions of
//! limited size, because requests that send messages may wait for a long transaction. If the closing is interrupted,
//! housekeeping deletes the rows that are left.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, Timestamp,
    ports::{Closing, ClosingExtent, DeletedRows, Durability, StoreError},
    with_causes,
};
use sealpost_storage::{Database, Transaction};
use serde::Serialize;
use serde_json::json;

use super::{
    audited::{ActionRecord, Concerned, Operator, OperatorError},
    owner::ProvenOwner,
    sessions::NO_LOGIN,
};
use crate::{
    account::Accounts, cache::key_cache::CacheEvent, error::Error, operator::lists::NO_ACCOUNT,
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
    fn new(
        account_id: AccountId,
        Closing { closed_at, extent }: Closing,
        deleted: DeletedRows,
        complete: bool,
    ) -> Self {
        let erased = extent == ClosingExtent::Erase;
        let kept = if erased { KEPT.to_vec() } else { [&KEPT_UNLESS_ERASED[..], &KEPT].concat() };
        Self { account_id, closed_at, erased, complete, deleted, kept }
    }
}

impl Accounts {
    /// Closes the account of the owner permanently, and erases the personal data of the owner.
    pub async fn close(&self, owner: ProvenOwner) -> Result<AccountClosed, Error> {
        self.core.block(self, move |accounts| accounts.close_as_owner(&owner)).await
    }
}

impl Operator {
    /// Closes an account permanently: revokes its keys, and deletes its webhooks, sessions and API tokens. Labels,
    /// handles and activity stay. After an interruption, call this function again.
    pub fn close_account(&self, id: &AccountId) -> Result<AccountClosed, OperatorError> {
        self.close(id, ClosingExtent::Close)
    }

    /// Closes an account permanently, and erases the personal data of its owner. Also erases this data of an account
    /// that is already closed.
    pub fn erase_account(&self, id: &AccountId) -> Result<AccountClosed, OperatorError> {
        self.close(id, ClosingExtent::Erase)
    }

    fn close(&self, id: &AccountId, extent: ClosingExtent) -> Result<AccountClosed, OperatorError> {
        let now = self.clock.now();
        let begun = self.perform(|tx| Ok(begin(tx, id, extent, now)?.ok_or(NO_ACCOUNT)?))?;
        Ok(finish(&self.store, id, now, begun))
    }
}

impl Accounts {
    fn close_as_owner(&self, owner: &ProvenOwner) -> Result<AccountClosed, Error> {
        let (id, now) = (owner.session.account_id, self.core.clock.now());
        let extent = ClosingExtent::Erase;
        let begun = self.audited_act_as_owner(owner, "closing the account", |tx| {
            Ok(begin(tx, &id, extent, now)?.ok_or(NO_LOGIN)?)
        });
        let closed = begun.map(|begun| finish(&self.core.store, &id, now, begun));
        // The cache is invalidated even after an error, because the first transaction may have been committed.
        self.core.cache.invalidate_on(CacheEvent::AccountLoggedOut(&id));
        closed
    }
}

/// Makes an account unusable. Returns the closing with the numbers of rows that were deleted so far, and the record for
/// the audit trail. Returns `None` if the account does not exist.
fn begin(
    tx: &mut Transaction,
    id: &AccountId,
    extent: ClosingExtent,
    now: Timestamp,
) -> Result<Option<(Begun, ActionRecord)>, StoreError> {
    let Some(closing) = tx.begin_closing(id, extent, now)? else { return Ok(None) };
    let sessions = tx.end_sessions(Some(id), SESSIONS_MAX)?;
    let api_tokens = tx.delete_api_tokens_of(id)?;
    let action = match extent {
        ClosingExtent::Close => "account.close",
        ClosingExtent::Erase => "account.erase",
    };
    let detail = json!({"sessions": sessions, "api_tokens": api_tokens});
    // The activity log gets no entry, because the owner can no longer log in and read it.
    let record = ActionRecord::new(action, id, Concerned::Service, detail);
    let rows = DeletedRows { sessions, api_tokens, ..DeletedRows::default() };
    Ok(Some(((closing, rows), record)))
}

/// A closing, and the rows that its first transaction has deleted.
type Begun = (Closing, DeletedRows);

/// Deletes the rows of an account that [`begin`] has made unusable, in at most [`PORTIONS_MAX`] transactions. Stops at
/// the first database error, but does not fail, because the account is already closed. The result shows if rows are
/// left.
fn finish(
    store: &Database,
    id: &AccountId,
    now: Timestamp,
    (closing, mut rows): Begun,
) -> AccountClosed {
    for _ in 0..PORTIONS_MAX {
        match store.write(Durability::Durable, |tx| tx.close_portion(id, now, ROWS_PER_WRITE)) {
            Ok(portion) => {
                rows = rows.plus(portion.rows);
                if portion.is_complete {
                    return AccountClosed::new(*id, closing, rows, true);
                }
            }
            Err(error) => {
                tracing::error!(
                    error = with_causes(&error),
                    "rows of a closed account were not deleted; housekeeping deletes them later"
                );
                break;
            }
        }
    }
    AccountClosed::new(*id, closing, rows, false)
}

/// Maximum number of sessions that the first transaction ends. On SQLite, requests that send messages wait for the
/// transaction.
const SESSIONS_MAX: u32 = 10_000;
/// Maximum number of rows that one transaction deletes. On SQLite, requests that send messages wait for such a
/// transaction.
const ROWS_PER_WRITE: u32 = 1000;
/// Maximum number of transactions (of [`ROWS_PER_WRITE`] rows) in which one call deletes rows. Bounds the duration of
/// an owner's request. Housekeeping deletes the rows that are left.
const PORTIONS_MAX: u32 = 1000;
const RETENTION: &str = "the end of retention";
const PERMANENTLY: &str = "permanently";

const KEPT_UNLESS_ERASED: [KeptData; 5] = [
    KeptData {
        data: "labels and handles of the keys",
        reason: "the handles stay reserved, and earlier correspondents recognise the keys",
        until: "`sealpost admin account erase`",
    },
    KeptData {
        data: "activity with client addresses",
        reason: "the operator can investigate misuse",
        until: "90 days (by default) after each act, or `sealpost admin account erase`",
    },
    KeptData {
        data: "partner of the account, and lists of allowed and blocked keys",
        reason: "the operator can investigate misuse",
        until: "`sealpost admin account erase`",
    },
    KeptData {
        data: "daily counts, contacts, and values of `Idempotency-Key`",
        reason: "they expire, and give no access",
        until: "40 days, the end of retention, and 24 hours (by default)",
    },
    KeptData {
        data: "statements of the transparency log about keys and badges",
        reason: "they prove the state of the keys, also that they are revoked",
        until: "`sealpost admin account erase`",
    },
];

const KEPT: [KeptData; 9] = [
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
    KeptData {
        data: "entries of the transparency log: kind, time and commitment",
        reason: "the log only grows; after an erasure, nothing links its entries to the account",
        until: PERMANENTLY,
    },
];
