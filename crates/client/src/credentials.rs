//! The ways to authenticate.

use std::fmt;

use sealpost_domain::AccountId;
use zeroize::Zeroizing;

/// An account and its login secret. The client logs in when it needs a session, and again when the session ends.
#[derive(Clone)]
pub struct Login {
    /// The account.
    pub account_id: AccountId,
    /// The login secret of the account. Debug output omits it.
    pub login_secret: Zeroizing<String>,
}

impl Login {
    /// Creates the credentials of an account.
    pub fn new(account_id: AccountId, login_secret: impl Into<String>) -> Self {
        Self { account_id, login_secret: Zeroizing::new(login_secret.into()) }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("account_id", &self.account_id).finish_non_exhaustive()
    }
}
