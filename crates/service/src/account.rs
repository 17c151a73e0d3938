//! Log in and out.

use schemars::JsonSchema;
use sealpost_domain::{AccountId, Refusal, Session, Timestamp, ports::Durability};
use sealpost_wallet::{LoginSecret, SessionToken, same_hash};
use serde::Serialize;

use crate::{
    Body, Error, Sealpost,
    credentials::{NO_SESSION, read_token},
};

/// Whose session to begin.
#[derive(JsonSchema)]
pub struct Login {
    /// The account, as activation named it.
    #[schemars(length(min = 1))]
    pub account_id: String,
    /// Its secret.
    #[schemars(length(min = 1))]
    pub login_secret: String,
}

/// A session that has begun.
#[derive(JsonSchema, Serialize)]
pub struct LoggedIn {
    /// What to send as `Authorization: Bearer`; shown this once.
    pub session_token: String,
    /// Always `Bearer`.
    #[schemars(extend("const" = "Bearer"))]
    pub token_type: &'static str,
    /// From this instant on the token is worth nothing.
    pub expires_at: Timestamp,
    /// Whom the session stands for.
    pub account_id: AccountId,
}

/// A login secret that replaces the one before.
#[derive(JsonSchema, Serialize)]
pub struct SecretRotated {
    /// Whose.
    pub account_id: AccountId,
    /// Shown this once.
    pub login_secret: String,
}

impl Sealpost {
    /// Begins a session. A wrong account and a wrong secret are refused alike, and without a transaction.
    pub fn login(&self, login: &Login) -> Result<LoggedIn, Error> {
        let shown = LoginSecret::hash_of(&login.login_secret).ok_or(NO_LOGIN)?;
        let account_id: AccountId =
            login.account_id.parse().map_err(|_malformed| Error::from(NO_LOGIN))?;
        let stored = self.core.store.lookup()?.find_login_secret(&account_id)?.ok_or(NO_LOGIN)?;
        if !same_hash(&shown, &stored) {
            return Err(NO_LOGIN.into());
        }
        let token = SessionToken::generate()?;
        let expires_at = self.core.clock.now().plus(self.core.settings.session_ttl);
        let session = Session { token: token.hash(), account_id, expires_at };
        self.core.store.write(Durability::Durable, |tx| {
            // The secret may have been replaced since, and every session ended so that nobody is left in who only knew the
            // old one. Once the account is locked, whoever replaces it waits, and ends this session too.
            tx.lock_account(&account_id)?;
            let stored = tx.find_login_secret(&account_id)?;
            if !stored.is_some_and(|stored| same_hash(&shown, &stored)) {
                return Ok(Err(NO_LOGIN));
            }
            tx.insert_session(&session).map(Ok)
        })??;
        Ok(LoggedIn {
            session_token: token.expose().to_owned(),
            token_type: "Bearer",
            expires_at,
            account_id,
        })
    }

    /// The account of a live session, as far as memory can tell: for whoever counts what an account asks for. What it asks
    /// for judges the session itself.
    pub async fn account_of(&self, token: Option<&str>) -> Result<AccountId, Error> {
        self.session_account(read_token(token)?).await
    }

    /// Replaces the account's login secret; the old one stops working. Sessions go on.
    pub fn rotate_login_secret(
        &self,
        token: Option<&str>,
        body: &Body<()>,
    ) -> Result<SecretRotated, Error> {
        let token = read_token(token)?;
        // Whoever has no session gets no transaction.
        self.require_session(&token)?;
        body.clone()?;
        let secret = LoginSecret::generate()?;
        let (clock, hash) = (&self.core.clock, secret.hash());
        let account_id = self.core.store.write(Durability::Durable, |tx| {
            let session = tx.find_session(&token)?;
            let Some(live) = session.filter(|session| session.is_live(clock.now())) else {
                return Ok(Err(NO_SESSION));
            };
            tx.set_login_secret(&live.account_id, &hash)?;
            Ok(Ok(live.account_id))
        })??;
        Ok(SecretRotated { account_id, login_secret: secret.expose().to_owned() })
    }

    /// Ends this session, or every session of its account where the body says so.
    pub fn logout(&self, token: Option<&str>, scope: Body<Scope>) -> Result<(), Error> {
        let token = read_token(token)?;
        let account_id = self.require_session(&token)?.account_id;
        let scope = scope?;
        self.core.store.write(Durability::Durable, |tx| match scope {
            Scope::Account => tx.delete_sessions_of(&account_id),
            Scope::Session => tx.delete_session(&token),
        })?;
        match scope {
            Scope::Account => self.core.known.forget_sessions_of(&account_id),
            Scope::Session => self.core.known.forget_session(&token),
        }
        Ok(())
    }
}

/// What to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every session of the account.
    Account,
    /// This session.
    Session,
}

const NO_LOGIN: Refusal =
    Refusal::Unauthorized("the account_id or the login_secret is wrong; both come from activation");
