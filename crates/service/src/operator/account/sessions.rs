//! Ends the sessions of one account or of all accounts.

use schemars::JsonSchema;
use sealpost_domain::AccountId;
use serde::Serialize;
use serde_json::json;

use crate::operator::{
    action::{ActionRecord, Concerned, Operator, OperatorError},
    lists::NO_ACCOUNT,
};

/// The result of [`Operator::end_sessions`].
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SessionsEnded {
    /// Id of the account whose sessions were ended; `null` means all accounts.
    pub account_id: Option<AccountId>,
    /// Number of sessions that this call ended.
    pub session_count: u64,
}

impl Operator {
    /// Ends the sessions of an account, or of all accounts for `None`. Afterwards, all nodes refuse requests with these
    /// sessions.
    ///
    /// Each transaction ends a bounded number of sessions, and has its own entry in the audit trail. After an
    /// interruption, a second call ends the sessions that are still valid.
    pub fn end_sessions(
        &self,
        account: Option<&AccountId>,
    ) -> Result<SessionsEnded, OperatorError> {
        let mut session_count = 0_u64;
        loop {
            let ended = self.end_some_sessions(account)?;
            session_count = session_count.saturating_add(ended);
            if ended < u64::from(BATCH_MAX) {
                return Ok(SessionsEnded { account_id: account.copied(), session_count });
            }
        }
    }

    fn end_some_sessions(&self, account: Option<&AccountId>) -> Result<u64, OperatorError> {
        self.perform(|tx| {
            if let Some(account) = account
                && !tx.lock_account(account)?
            {
                return Err(NO_ACCOUNT.into());
            }
            let ended = tx.end_sessions(account, BATCH_MAX)?;
            let subject = account.map_or_else(|| ALL.to_owned(), AccountId::to_string);
            let detail = json!({"sessions": ended});
            let concerned =
                account.map_or(Concerned::Service, |account| Concerned::Account(*account));
            Ok((ended, ActionRecord { action: "session.end", subject, concerned, detail }))
        })
    }
}

const ALL: &str = "all";
/// Maximum number of sessions that one transaction ends. On SQLite, sends wait for such a transaction.
const BATCH_MAX: u32 = 10_000;
