//! Stores accounts with their login secrets, and the sessions of accounts.

use diesel::prelude::*;
use sealpost_domain::{
    Account, AccountId, AccountSecrets, PartnerId, Session, Timestamp, TokenHash,
    ports::{JournaledAct, StoreError},
};

use crate::{
    connection::{
        on_backend,
        transaction::{Reader, Transaction},
    },
    query::{
        any_of::any_token,
        row_lock::{Locked, RowLock},
    },
    rows::{
        columns,
        row_tags::RowContent,
        session::{self, SessionRow},
    },
    schema::{accounts, sessions as s},
};

impl Reader {
    /// Finds the session of a token, even if the session has expired. `None` if no session has this token, for example
    /// after a logout, or if the row may be forged: it has no valid [tag](sealpost_domain::ports::RowAuthenticator).
    pub fn find_session(&mut self, hash: &TokenHash) -> Result<Option<Session>, StoreError> {
        Ok(self.find_sessions(std::slice::from_ref(hash))?.pop())
    }

    /// Finds the sessions of many tokens, in any order. Omits unknown tokens, and rows that may be forged (without a
    /// valid [tag](sealpost_domain::ports::RowAuthenticator)).
    pub fn find_sessions(&mut self, hashes: &[TokenHash]) -> Result<Vec<Session>, StoreError> {
        let rows: Vec<(SessionRow, Option<Vec<u8>>)> = self.run(|conn| {
            let wanted = s::table
                .filter(any_token(s::token, hashes))
                .select(((s::token, s::account_id, s::expires_at), s::tag));
            Ok(on_backend!(conn, c => wanted.load(c))?)
        })?;
        let mut sessions = Vec::new();
        for (row, tag) in rows {
            let (token, account_id, expires_at) = &row;
            let content = session::content(token, account_id, *expires_at);
            if self.row_tags.is_valid(&content, tag.as_deref())? {
                sessions.push(session::read(row)?);
            }
        }
        Ok(sessions)
    }

    /// Returns when a session was last confirmed: the client entered the login secret again. `None` if the session does
    /// not exist or was never confirmed, or if the stored time may be forged (has no valid
    /// [tag](sealpost_domain::ports::RowAuthenticator)).
    pub fn session_confirmed_at(
        &mut self,
        token: &TokenHash,
    ) -> Result<Option<Timestamp>, StoreError> {
        let confirmed = s::table.find(&token.0[..]).select((s::confirmed_at, s::confirmation_tag));
        let row = self.first(confirmed, Ok::<(Option<i64>, Option<Vec<u8>>), _>)?;
        let Some((Some(millis), tag)) = row else { return Ok(None) };
        let content = session::confirmation_content(&token.0, millis);
        let is_valid = self.row_tags.is_valid(&content, tag.as_deref())?;
        Ok(is_valid.then(|| Timestamp::from_millis(millis)))
    }

    /// Finds the hash of the account's login secret. `None` if the account does not exist, is closed, or may be forged
    /// (has no valid [tag](sealpost_domain::ports::RowAuthenticator)).
    pub fn find_login_secret(
        &mut self,
        account: &AccountId,
    ) -> Result<Option<TokenHash>, StoreError> {
        Ok(self.find_secrets(account)?.map(|(login_secret, _)| login_secret))
    }

    /// Finds the hash of the account's recovery code. `None` if the account has no recovery code, does not exist, is
    /// closed, or may be forged (has no valid [tag](sealpost_domain::ports::RowAuthenticator)).
    pub fn find_recovery_code(
        &mut self,
        account: &AccountId,
    ) -> Result<Option<TokenHash>, StoreError> {
        Ok(self.find_secrets(account)?.and_then(|(_, recovery_code)| recovery_code))
    }

    fn find_secrets(
        &mut self,
        account: &AccountId,
    ) -> Result<Option<(TokenHash, Option<TokenHash>)>, StoreError> {
        let id = account.to_string();
        let open = accounts::table.find(&id).filter(accounts::closed_at.is_null());
        let columns = (accounts::login_secret, accounts::recovery_code, accounts::tag);
        let row = self.first(open.select(columns), Ok::<SecretsRow, _>)?;
        let Some((login_secret, recovery_code, tag)) = row else { return Ok(None) };
        let content = account_content(&id, &login_secret, recovery_code.as_deref());
        if !self.row_tags.is_valid(&content, tag.as_deref())? {
            return Ok(None);
        }
        let hash = |bytes| columns::token(bytes, "account");
        Ok(Some((hash(login_secret)?, recovery_code.map(hash).transpose()?)))
    }

    /// Returns whether an account exists and is not closed.
    pub fn is_open_account(&mut self, account: &AccountId) -> Result<bool, StoreError> {
        let open = accounts::table.find(account.to_string()).filter(accounts::closed_at.is_null());
        self.run(|conn| Ok(open.count().get_result::<i64>(conn)? == 1))
    }
}

impl Transaction {
    /// Inserts an account.
    pub fn insert_account(&mut self, account: &Account) -> Result<(), StoreError> {
        let row = (
            accounts::id.eq(account.id.to_string()),
            accounts::login_secret.eq(&account.secrets.login_secret.0[..]),
            accounts::recovery_code.eq(&account.secrets.recovery_code.0[..]),
            accounts::created_at.eq(account.created_at.as_millis()),
            accounts::tag.eq(self.account_tag(&account.id, &account.secrets)?),
        );
        self.execute(diesel::insert_into(accounts::table).values(row)).map(drop)
    }

    /// Locks an account until the transaction ends. Returns `false` if the account does not exist or is closed.
    pub fn lock_account(&mut self, id: &AccountId) -> Result<bool, StoreError> {
        let account = accounts::table
            .find(id.to_string())
            .filter(accounts::closed_at.is_null())
            .select(accounts::id);
        self.run(|conn| {
            let locked = Locked::new(account, RowLock::Alone);
            let found = on_backend!(conn, c => locked.load::<String>(c))?;
            Ok(!found.is_empty())
        })
    }

    /// Deletes the session with this token. Does nothing if no session has the token.
    pub fn delete_session(&mut self, token: &TokenHash) -> Result<(), StoreError> {
        let ended = self.execute(diesel::delete(s::table.find(&token.0[..])))?;
        self.journal_ended_sessions(ended);
        Ok(())
    }

    /// Deletes all sessions of one account.
    pub fn delete_sessions_of(&mut self, account: &AccountId) -> Result<(), StoreError> {
        let of_account = s::table.filter(s::account_id.eq(account.to_string()));
        let ended = self.execute(diesel::delete(of_account))?;
        self.journal_ended_sessions(ended);
        Ok(())
    }

    /// Deletes up to `limit` sessions of an account, or of all accounts if `account` is `None`. Returns the number of
    /// deleted sessions.
    pub fn end_sessions(
        &mut self,
        account: Option<&AccountId>,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let ended = self.run(|conn| {
            let mut some = s::table.select(s::token).limit(limit.into()).into_boxed();
            if let Some(account) = account {
                some = some.filter(s::account_id.eq(account.to_string()));
            }
            let tokens: Vec<Vec<u8>> = some.load(conn)?;
            let hashes = tokens.into_iter().map(|token| columns::token(token, "session"));
            let hashes = hashes.collect::<Result<Vec<_>, _>>()?;
            let ended = diesel::delete(s::table.filter(any_token(s::token, &hashes)));
            Ok(on_backend!(conn, c => ended.execute(c))?)
        })?;
        self.journal_ended_sessions(ended);
        Ok(u64::try_from(ended).unwrap_or(u64::MAX))
    }

    /// Replaces the account's login secret and recovery code.
    pub fn set_account_secrets(
        &mut self,
        account: &AccountId,
        secrets: &AccountSecrets,
    ) -> Result<(), StoreError> {
        let tag = self.account_tag(account, secrets)?;
        let of_account = accounts::table.find(account.to_string());
        let update = diesel::update(of_account).set((
            accounts::login_secret.eq(&secrets.login_secret.0[..]),
            accounts::recovery_code.eq(&secrets.recovery_code.0[..]),
            accounts::tag.eq(tag),
        ));
        self.change_one(update, "account")?;
        self.journaled_acts.add(JournaledAct::SecretsReplaced(*account, *secrets));
        Ok(())
    }

    /// Removes the confirmation (the login secret was entered again) from all sessions of the account except `kept`.
    pub fn unconfirm_sessions(
        &mut self,
        account: &AccountId,
        kept: &TokenHash,
    ) -> Result<(), StoreError> {
        let others = s::table
            .filter(s::account_id.eq(account.to_string()))
            .filter(s::token.ne(&kept.0[..]))
            .filter(s::confirmed_at.is_not_null());
        self.run(|conn| {
            let update = diesel::update(others)
                .set((s::confirmed_at.eq(None::<i64>), s::confirmation_tag.eq(None::<Vec<u8>>)));
            on_backend!(conn, c => update.execute(c))?;
            Ok(())
        })
    }

    /// Records that the client has entered the login secret again in this session, at the time `at`.
    pub fn confirm_session(&mut self, token: &TokenHash, at: Timestamp) -> Result<(), StoreError> {
        let content = session::confirmation_content(&token.0, at.as_millis());
        let tag = self.row_tags.tag(&content)?;
        let confirmed = (s::confirmed_at.eq(at.as_millis()), s::confirmation_tag.eq(tag));
        self.execute(diesel::update(s::table.find(&token.0[..])).set(confirmed)).map(drop)
    }

    /// Assigns the account to a partner. `None` removes the account from its partner. Returns `false` if the account
    /// does not exist.
    pub fn set_partner(
        &mut self,
        account: &AccountId,
        partner: Option<&PartnerId>,
    ) -> Result<bool, StoreError> {
        let account = accounts::table.find(account.to_string());
        let partner = partner.map(PartnerId::as_str);
        Ok(self.execute(diesel::update(account).set(accounts::partner_id.eq(partner)))? == 1)
    }

    fn account_tag(
        &self,
        account: &AccountId,
        secrets: &AccountSecrets,
    ) -> Result<Vec<u8>, StoreError> {
        let AccountSecrets { login_secret, recovery_code } = secrets;
        let content =
            account_content(&account.to_string(), &login_secret.0, Some(&recovery_code.0));
        self.row_tags.tag(&content)
    }

    fn journal_ended_sessions(&mut self, ended: usize) {
        if ended > 0 {
            self.journaled_acts.add(JournaledAct::SessionsEnded);
        }
    }
}

/// Returns the columns of an account that its tag protects against forgery.
pub(crate) fn account_content(
    id: &str,
    login_secret: &[u8],
    recovery_code: Option<&[u8]>,
) -> RowContent {
    RowContent::new("accounts").with(id).with(login_secret).with_optional(recovery_code)
}

/// The hashes of login secret and recovery code, and the tag of the row.
type SecretsRow = (Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>);
