//! Sessions: login, logout, and their end by the owner or an operator.

use std::sync::Arc;

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ActivityActor, ActivityKind, Refusal, RequestSource, Session, Timestamp, TokenHash,
    ports::Durability,
};
use sealpost_wallet::{LoginSecret, SessionToken, same_hash};
use serde::Serialize;
use serde_json::json;

use super::audited::{ActionRecord, Concerned, Operator, OperatorError};
use crate::{
    account::{Accounts, activity::ActOrigin},
    cache::key_cache::CacheEvent,
    caller::credentials::AccountSession,
    error::Error,
    operator::lists::NO_OPEN_ACCOUNT,
    owner::Owner,
    sealpost::core::Core,
};

/// The credentials of a login, not verified.
pub struct Login {
    /// The id of the account, from the response that created the account.
    pub account_id: String,
    /// The newest login secret of the account.
    pub login_secret: String,
    /// True for a login on the dashboard. It also confirms the session: for five minutes, the dashboard does not ask
    /// for the login secret again. Other logins do not confirm the session, so the thief of a session token also needs
    /// the login secret.
    pub on_dashboard: bool,
}

impl Login {
    /// Refuses a malformed account id or secret, without a database look-up. Rate limits need not count such a login.
    pub fn check(&self) -> Result<(), Refusal> {
        self.parse().map(drop)
    }

    fn parse(&self) -> Result<(AccountId, TokenHash), Refusal> {
        let account_id = self.account_id.parse().map_err(|_malformed| NO_ACCOUNT_ID)?;
        Ok((account_id, LoginSecret::hash_of(&self.login_secret).ok_or(NO_LOGIN)?))
    }
}

/// A new session.
#[derive(JsonSchema, Serialize)]
pub struct LoggedIn {
    /// The value for `Authorization: Bearer`, shown only in this response.
    pub session_token: String,
    /// Always `Bearer`.
    #[schemars(extend("const" = "Bearer"))]
    pub token_type: &'static str,
    /// Time at which the session expires.
    pub expires_at: Timestamp,
    /// The account of the session.
    pub account_id: AccountId,
}

/// Selects the sessions that a logout ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All sessions of the account.
    Account,
    /// The session of the request.
    Session,
}

/// The ended sessions of an account, or of all accounts.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SessionsEnded {
    /// Id of the account whose sessions were ended; `null` means all accounts.
    pub account_id: Option<AccountId>,
    /// Number of sessions that this call ended.
    pub session_count: u64,
}

impl Accounts {
    /// Verifies the credentials of a login, but creates no session. Returns the account. Fails like
    /// [`Accounts::login`].
    pub async fn verify_login(
        &self,
        login: &Login,
        source: &RequestSource,
    ) -> Result<AccountId, Error> {
        let ((account_id, given), source) = (login.parse()?, source.clone());
        let verify = move |accounts: &Self| accounts.check_login(&account_id, &given, &source);
        self.core.block(self, verify).await?;
        Ok(account_id)
    }

    /// Creates a session. An unknown account and a wrong secret get the same error.
    pub async fn login(&self, login: Login, source: RequestSource) -> Result<LoggedIn, Error> {
        self.core.block(self, move |accounts| accounts.begin_session(&login, &source)).await
    }

    /// Ends the session of the request, or all sessions of its account.
    pub async fn logout(
        &self,
        session: &AccountSession,
        scope: Scope,
        source: RequestSource,
    ) -> Result<(), Error> {
        let session = *session;
        let end = move |core: &Arc<Core>| {
            let AccountSession { token, account_id } = &session;
            core.store.write(Durability::Durable, |tx| {
                let detail = match scope {
                    Scope::Account => {
                        tx.delete_sessions_of(account_id)?;
                        Some("all sessions".to_owned())
                    }
                    Scope::Session => {
                        tx.delete_session(token)?;
                        None
                    }
                };
                core.record(tx, &session.act_from(&source), ActivityKind::Logout, detail)
            })?;
            core.cache.invalidate_on(match scope {
                Scope::Account => CacheEvent::AccountLoggedOut(account_id),
                Scope::Session => CacheEvent::SessionEnded(token),
            });
            Ok(())
        };
        self.core.block(&self.core, end).await
    }
}

impl Owner<'_> {
    /// Ends the session with this name. Returns `false` if the account has no such session, for example because it has
    /// already ended.
    pub async fn end_session(&self, name: &str) -> Result<bool, Error> {
        let (session, name, source) = (self.session, name.to_owned(), self.source.clone());
        let end = move |core: &Arc<Core>| {
            let (account, now) = (&session.account_id, core.clock.now());
            let found = core.store.read(|reader| reader.find_session_named(account, &name, now))?;
            let Some(token) = found else { return Ok(false) };
            core.store.write(Durability::Durable, |tx| {
                tx.delete_session(&token)?;
                let detail = Some(format!("session {}", token.short_name()));
                core.record(tx, &session.act_from(&source), ActivityKind::Logout, detail)
            })?;
            core.cache.invalidate_on(CacheEvent::SessionEnded(&token));
            Ok(true)
        };
        self.accounts.core.block(&self.accounts.core, end).await
    }
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
                return Err(NO_OPEN_ACCOUNT.into());
            }
            let ended = tx.end_sessions(account, BATCH_MAX)?;
            let subject = account.map_or_else(|| ALL.to_owned(), AccountId::to_string);
            let detail = json!({"sessions": ended});
            let concerned =
                account.map_or(Concerned::Service, |account| Concerned::Account(*account));
            Ok((ended, ActionRecord::new("session.end", &subject, concerned, detail)))
        })
    }
}

impl Accounts {
    fn begin_session(&self, login: &Login, source: &RequestSource) -> Result<LoggedIn, Error> {
        let (account_id, given) = login.parse()?;
        self.check_login(&account_id, &given, source)?;
        let token = SessionToken::generate()?;
        let now = self.core.clock.now();
        let expires_at = now.plus(self.core.settings.session_ttl);
        let session = Session { token: token.hash(), account_id, expires_at };
        let origin = ActOrigin {
            account_id,
            actor: ActivityActor::session(&session.token),
            client_address: source.address,
        };
        self.core.store.write_or_refuse(Durability::Durable, |tx| {
            // Checks the secret again on the locked account, because a concurrent request may have replaced the secret
            // since the first check. The lock prevents a replacement until the end of this transaction.
            tx.lock_account(&account_id)?;
            let stored = tx.find_login_secret(&account_id)?;
            if !stored.is_some_and(|stored| same_hash(&given, &stored)) {
                return Err(NO_LOGIN.into());
            }
            tx.insert_session(&session, now, source)?;
            if login.on_dashboard {
                tx.confirm_session(&session.token, now)?;
            }
            self.core.record(tx, &origin, ActivityKind::Login, None)?;
            Ok(())
        })?;
        Ok(LoggedIn {
            session_token: token.expose().to_owned(),
            token_type: "Bearer",
            expires_at,
            account_id,
        })
    }

    /// Verifies the login secret of an account. Records a wrong secret in the activity of the account.
    fn check_login(
        &self,
        account_id: &AccountId,
        given: &TokenHash,
        source: &RequestSource,
    ) -> Result<(), Error> {
        let stored =
            self.core.store.read(|reader| reader.find_login_secret(account_id))?.ok_or(NO_LOGIN)?;
        if !same_hash(given, &stored) {
            self.record_failed_login(account_id, source, None)?;
            return Err(NO_LOGIN.into());
        }
        Ok(())
    }
}

/// The refusal of a text that cannot be the id of an account.
pub(super) const NO_ACCOUNT_ID: Refusal = Refusal::Unauthorized(
    "the account_id is no id of an account (acct_...); use the account_id that the activation returned",
);
pub(crate) const NO_LOGIN: Refusal =
    Refusal::Unauthorized("the account_id or the login_secret is wrong; both come from activation");
const ALL: &str = "all";
/// Maximum number of sessions that one transaction ends. On SQLite, requests that send messages wait for such a
/// transaction.
const BATCH_MAX: u32 = 10_000;
