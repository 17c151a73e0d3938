//! The secrets of an account, for operators.

use sealpost_domain::AccountId;
use serde::Serialize;
use serde_json::json;

use crate::account::recovery::NewSecrets;
use crate::operator::action::{ActionRecord, Concerned, Operator, OperatorError};

/// The recovery code of an account after an operator has reset its secrets.
#[derive(Serialize)]
pub struct SecretReset {
    /// Id of the account.
    pub account_id: AccountId,
    /// The recovery code for `POST /v1/auth/recover`, shown only in this result. It works once.
    pub recovery_code: String,
}

impl Operator {
    /// Ends the login secret, the recovery code and all sessions of an account, and creates a recovery code. API tokens
    /// stay until the owner uses the code.
    pub fn reset_secret(&self, account: &AccountId) -> Result<SecretReset, OperatorError> {
        // The new login secret is shown to no one, so no login succeeds until the account is recovered.
        let secrets = NewSecrets::generate()?;
        self.perform(|tx| {
            if !tx.lock_account(account)? {
                return Err(OperatorError::NotFound("such account").into());
            }
            tx.set_account_secrets(account, &secrets.hashes())?;
            tx.delete_sessions_of(account)?;
            let record = ActionRecord {
                action: "account.reset-secret",
                subject: account.to_string(),
                concerned: Concerned::Account(*account),
                detail: json!({}),
            };
            Ok(((), record))
        })?;
        let recovery_code = secrets.show(*account).recovery_code;
        Ok(SecretReset { account_id: *account, recovery_code })
    }
}
