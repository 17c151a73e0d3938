//! The owner of an account, authenticated by a session.

use sealpost_domain::{AccountId, Refusal, RequestSource};
use sealpost_wallet::SessionToken;

use crate::{caller::authenticated::AccountSession, error::Error, sealpost::Sealpost};

/// The owner of an account with a live session.
///
/// The owner sees every key of the account in any state. Use cases of the owner do not count against the limits of a
/// plan. A key of another account is reported as not existing.
#[derive(Clone)]
pub struct Owner<'a> {
    pub(super) sealpost: &'a Sealpost,
    pub(super) session: AccountSession,
    pub(super) source: RequestSource,
}

impl Sealpost {
    /// Authenticates an owner. Reads the session from the database, because the pages of the dashboard have no
    /// transaction that would check the session again.
    pub async fn owner(&self, token: &str, source: RequestSource) -> Result<Owner<'_>, Error> {
        let session = self.authenticate_session(Some(token)).await?;
        Ok(Owner { sealpost: self, session, source })
    }
}

impl Owner<'_> {
    /// Returns the owner's account.
    pub fn account_id(&self) -> AccountId {
        self.session.account_id
    }

    /// Returns the client of the request.
    pub fn source(&self) -> RequestSource {
        self.source.clone()
    }

    /// Returns the owner's session.
    pub fn session(&self) -> &AccountSession {
        &self.session
    }
}

/// Derives the CSRF token of a session. Every form of the session carries this token.
pub fn form_token(session_token: &str) -> Option<String> {
    SessionToken::form_token(session_token)
}

pub(super) const NO_KEY: Refusal = Refusal::KeyNotFound { field: None };
