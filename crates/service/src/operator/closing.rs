//! Closing of accounts.

use sealpost_domain::{
    AccountId,
    ports::{ClosingExtent, DeletedRows, Durability},
};
use serde_json::json;

use super::{
    action::{ActionRecord, Concerned, Operator, OperatorError},
    lists::NO_ACCOUNT,
};
use crate::account::close::AccountClosed;

impl Operator {
    /// Closes an account permanently: revokes its keys, and deletes its webhooks and sessions. Labels, handles and the
    /// activity log stay. If a call is interrupted, another call continues the closing.
    pub fn close_account(&self, id: &AccountId) -> Result<AccountClosed, OperatorError> {
        self.close(id, ClosingExtent::Close, "account.close")
    }

    /// Closes an account permanently, and erases the personal data of its owner. Also erases this data of an account
    /// that is already closed.
    pub fn erase_account(&self, id: &AccountId) -> Result<AccountClosed, OperatorError> {
        self.close(id, ClosingExtent::Erase, "account.erase")
    }

    fn close(
        &self,
        id: &AccountId,
        extent: ClosingExtent,
        action: &'static str,
    ) -> Result<AccountClosed, OperatorError> {
        let now = self.clock.now();
        let sessions = self.perform(|tx| {
            if !tx.begin_closing(id, extent, now)? {
                return Ok(Err(NO_ACCOUNT));
            }
            let sessions = tx.end_sessions(Some(id), SESSIONS_MAX)?;
            let (subject, detail) = (id.to_string(), json!({"sessions": sessions}));
            // No entry in the activity log, because the owner of a closed account can no longer log in to read the log.
            let concerned = Concerned::Service;
            Ok(Ok((sessions, ActionRecord { action, subject, concerned, detail })))
        })?;
        let mut rows = DeletedRows { sessions, ..DeletedRows::default() };
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
/// Maximum number of rows that a portion deletes. On SQLite, sends wait for a portion.
const ROWS_PER_WRITE: u32 = 1000;
/// Maximum number of portions that one call deletes, so that the request of an owner ends in time. Housekeeping deletes
/// the remaining rows.
const PORTIONS_MAX: u32 = 1000;
