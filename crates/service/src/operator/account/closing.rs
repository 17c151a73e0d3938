//! Closing of accounts.

use sealpost_domain::{
    AccountId,
    ports::{ClosingExtent, DeletedRows, Durability},
};
use sealpost_storage::{Abort, Transaction};
use serde_json::json;

use crate::{
    account::close::AccountClosed,
    operator::{
        action::{ActionRecord, Concerned, Operator, OperatorError},
        lists::NO_ACCOUNT,
    },
};

impl Operator {
    /// Closes an account permanently: revokes its keys, and deletes its webhooks, sessions and API tokens. Labels,
    /// handles and activity stay. After an interruption, call this function again.
    pub fn close_account(&self, id: &AccountId) -> Result<AccountClosed, OperatorError> {
        self.close(id, ClosingExtent::Close, "account.close", |_| Ok(()))
    }

    /// Closes an account permanently, and erases the personal data of its owner. Also erases this data of an account
    /// that is already closed.
    pub fn erase_account(&self, id: &AccountId) -> Result<AccountClosed, OperatorError> {
        self.erase_if(id, |_| Ok(()))
    }

    /// Does the same as [`Operator::erase_account`], but only if `permit` allows it. `permit` runs in the transaction
    /// that makes the account unusable.
    pub(crate) fn erase_if(
        &self,
        id: &AccountId,
        permit: impl Fn(&mut Transaction) -> Result<(), Abort<OperatorError>>,
    ) -> Result<AccountClosed, OperatorError> {
        self.close(id, ClosingExtent::Erase, "account.erase", permit)
    }

    fn close(
        &self,
        id: &AccountId,
        extent: ClosingExtent,
        action: &'static str,
        permit: impl Fn(&mut Transaction) -> Result<(), Abort<OperatorError>>,
    ) -> Result<AccountClosed, OperatorError> {
        let now = self.clock.now();
        let (sessions, api_tokens) = self.perform(|tx| {
            permit(tx)?;
            if !tx.begin_closing(id, extent, now)? {
                return Err(NO_ACCOUNT.into());
            }
            let sessions = tx.end_sessions(Some(id), SESSIONS_MAX)?;
            let api_tokens = tx.delete_api_tokens_of(id)?;
            let subject = id.to_string();
            let detail = json!({"sessions": sessions, "api_tokens": api_tokens});
            // The account has no owner any more who could read its activity.
            let concerned = Concerned::Service;
            Ok(((sessions, api_tokens), ActionRecord { action, subject, concerned, detail }))
        })?;
        let mut rows = DeletedRows { sessions, api_tokens, ..DeletedRows::default() };
        for _ in 0..PORTIONS_MAX {
            let portion = self
                .store
                .write(Durability::Durable, |tx| tx.close_portion(id, now, ROWS_PER_WRITE))?;
            rows = rows.plus(portion.rows);
            if portion.is_complete {
                return Ok(AccountClosed::new(*id, now, extent, rows, true));
            }
        }
        Ok(AccountClosed::new(*id, now, extent, rows, false))
    }
}

/// Maximum number of sessions that the first transaction ends. On SQLite, sends wait for the transaction.
const SESSIONS_MAX: u32 = 10_000;
/// Maximum number of rows that one transaction deletes. On SQLite, sends wait for such a transaction.
const ROWS_PER_WRITE: u32 = 1000;
/// Maximum number of transactions (of [`ROWS_PER_WRITE`] rows) in which one call deletes rows. Bounds the duration of
/// an owner's request. Housekeeping deletes the rows that are left.
const PORTIONS_MAX: u32 = 1000;
