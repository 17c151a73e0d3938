//! Stores accounts with their login secrets, and the sessions of accounts.

use diesel::prelude::*;
use sealpost_domain::{
    Account, AccountId, AccountSecrets, PartnerId, Session, Timestamp, TokenHash,
    ports::{JournaledAct, StoreError},
};

use crate::{
    connection::{on_backend, reader::Reader, transaction::Transaction},
    query::{
        any_of::any_token,
        row_lock::{Locked, RowLock},
    },
    rows::{
        columns,
        session::{self, SessionRow},
    },
    schema::{accounts, session_confirmations as c, sessions},
};

impl Reader {
    /// Finds the session of a token, even if the session has expired. `None` after a logout.
    pub fn find_session(&mut self, hash: &TokenHash) -> Result<Option<Session>, StoreError> {
        self.run(|conn| {
            let row = sessions::table.find(&hash.0[..]).first::<SessionRow>(conn).optional()?;
            row.map(session::read).transpose()
        })
    }

    /// Finds the sessions of many tokens, in any order. Omits unknown tokens.
    pub fn find_sessions(&mut self, hashes: &[TokenHash]) -> Result<Vec<Session>, StoreError> {
        self.run(|conn| {
            let wanted = sessions::table.filter(any_token(sessions::token, hashes));
            let rows = on_backend!(conn, c => wanted.load::<SessionRow>(c))?;
            rows.into_iter().map(session::read).collect()
        })
    }

    /// Finds the hash of the account's recovery code. `None` if the account does not exist or has no recovery code.
    pub fn find_recovery_code(
        &mut self,
        account: &AccountId,
    ) -> Result<Option<TokenHash>, StoreError> {
        self.run(|conn| {
            let code = accounts::table
                .find(account.to_string())
                .filter(accounts::closed_at.is_null())
                .select(accounts::recovery_code)
                .first::<Option<Vec<u8>>>(conn)
                .optional()?;
            code.flatten().map(|hash| columns::token(hash, "account")).transpose()
        })
    }

    /// Returns the time at which the client last entered the login secret again in a session. `None` if the secret was
    /// never entered again, or if the session does not exist.
    pub fn session_confirmed_at(
        &mut self,
        token: &TokenHash,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.run(|conn| {
            let confirmed = c::table.find(&token.0[..]).select(c::confirmed_at);
            let millis = confirmed.first::<Option<i64>>(conn).optional()?;
            Ok(columns::instant(millis.flatten()))
        })
    }

    /// Finds the hash of the account's login secret. `None` if the account does not exist.
    pub fn find_login_secret(
        &mut self,
        account: &AccountId,
    ) -> Result<Option<TokenHash>, StoreError> {
        self.run(|conn| {
            let secret = accounts::table
                .find(account.to_string())
                .filter(accounts::closed_at.is_null())
                .select(accounts::login_secret)
                .first::<Vec<u8>>(conn)
                .optional()?;
            secret.map(|hash| columns::token(hash, "account")).transpose()
        })
    }
}

impl Transaction {
    /// Inserts an account.
    pub fn insert_account(&mut self, account: &Account) -> Result<(), StoreError> {
        self.run(|conn| {
            diesel::insert_into(accounts::table)
                .values((
                    accounts::id.eq(account.id.to_string()),
                    accounts::login_secret.eq(&account.secrets.login_secret.0[..]),
                    accounts::recovery_code.eq(&account.secrets.recovery_code.0[..]),
                    accounts::created_at.eq(account.created_at.as_millis()),
                ))
                .execute(conn)?;
            Ok(())
        })
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
        let ended =
            self.run(|conn| Ok(diesel::delete(sessions::table.find(&token.0[..])).execute(conn)?))?;
        self.journal_ended_sessions(ended);
        Ok(())
    }

    /// Deletes all sessions of one account.
    pub fn delete_sessions_of(&mut self, account: &AccountId) -> Result<(), StoreError> {
        let of_account = sessions::table.filter(sessions::account_id.eq(account.to_string()));
        let ended = self.run(|conn| Ok(diesel::delete(of_account).execute(conn)?))?;
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
            let mut some = sessions::table.select(sessions::token).limit(limit.into()).into_boxed();
            if let Some(account) = account {
                some = some.filter(sessions::account_id.eq(account.to_string()));
            }
            let tokens: Vec<Vec<u8>> = some.load(conn)?;
            let hashes = tokens.into_iter().map(|token| columns::token(token, "session"));
            let hashes = hashes.collect::<Result<Vec<_>, _>>()?;
            let ended = diesel::delete(sessions::table.filter(any_token(sessions::token, &hashes)));
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
        let of_account = accounts::table.find(account.to_string());
        self.run(|conn| {
            let update = diesel::update(of_account).set((
                accounts::login_secret.eq(&secrets.login_secret.0[..]),
                accounts::recovery_code.eq(&secrets.recovery_code.0[..]),
            ));
            columns::one(update.execute(conn)?, "account")
        })?;
        self.journaled_acts.add(JournaledAct::SecretsReplaced(*account, *secrets));
        Ok(())
    }

    /// Clears the time at which the login secret was last entered again, for all sessions of the account except `kept`.
    pub fn unconfirm_sessions(
        &mut self,
        account: &AccountId,
        kept: &TokenHash,
    ) -> Result<(), StoreError> {
        let others = c::table
            .filter(c::account_id.eq(account.to_string()))
            .filter(c::token.ne(&kept.0[..]))
            .filter(c::confirmed_at.is_not_null());
        self.run(|conn| {
            let update = diesel::update(others).set(c::confirmed_at.eq(None::<i64>));
            on_backend!(conn, c => update.execute(c))?;
            Ok(())
        })
    }

    /// Records `at` as the time at which the client last entered the login secret again in this session.
    pub fn confirm_session(&mut self, token: &TokenHash, at: Timestamp) -> Result<(), StoreError> {
        let session = c::table.find(&token.0[..]);
        self.run(|conn| {
            diesel::update(session).set(c::confirmed_at.eq(at.as_millis())).execute(conn)?;
            Ok(())
        })
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
        self.run(|conn| {
            let update = diesel::update(account).set(accounts::partner_id.eq(partner));
            Ok(update.execute(conn)? == 1)
        })
    }

    fn journal_ended_sessions(&mut self, ended: usize) {
        if ended > 0 {
            self.journaled_acts.add(JournaledAct::SessionsEnded);
        }
    }
}
