//! The owner of an account, authenticated by a session of the dashboard, and the queries of the dashboard.

pub(crate) mod correspondents;
pub(crate) mod event_log;
pub(crate) mod event_report;
pub(crate) mod health;
pub(crate) mod pages;
pub(crate) mod response_times;
pub(crate) mod sent;
pub(crate) mod used_forms;
pub(crate) mod views;

use sealpost_domain::{AccountId, Refusal, RequestSource};
use sealpost_wallet::SessionToken;

use crate::{account::Accounts, caller::credentials::AccountSession};

/// The owner of an account, with a valid session.
///
/// The owner can see all keys of the account in any state. Requests of the owner do not count against the limits of a
/// plan. A key of another account is treated as if it did not exist.
#[derive(Clone)]
pub struct Owner<'a> {
    pub(crate) accounts: &'a Accounts,
    pub(crate) session: AccountSession,
    pub(crate) source: RequestSource,
}

impl Owner<'_> {
    /// Returns the account of the owner.
    pub fn account_id(&self) -> AccountId {
        self.session.account_id
    }

    /// Returns the client address and the user agent of the request.
    pub fn source(&self) -> RequestSource {
        self.source.clone()
    }

    /// Returns the session of the owner.
    pub fn session(&self) -> &AccountSession {
        &self.session
    }
}

/// Returns the CSRF token of a session, which every form of the session contains. Returns `None` for a malformed
/// session token.
pub fn form_token(session_token: &str) -> Option<String> {
    SessionToken::form_token(session_token)
}

const NO_KEY: Refusal = Refusal::KeyNotFound { field: None };
