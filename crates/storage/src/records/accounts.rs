//! Stores accounts with their login secrets, and the sessions of accounts.

use diesel::prelude::*;
use sealpost_domain::{
    Account, AccountId, AccountSecrets, PartnerId, RequestSource, Session, Timestamp, TokenHash,
    ports::{AccountRepo, JournaledAct, StoreError},
};

use crate::{
    account::session_details,
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
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

pub(crate) fn find_session(
    conn: &mut AnyConnection,
    hash: &TokenHash,
) -> Result<Option<Session>, Fault> {
    let row = sessions::table.find(&hash.0[..]).first::<SessionRow>(conn).optional()?;
    row.map(session::read).transpose()
}

pub(crate) fn find_sessions(
    conn: &mut AnyConnection,
    hashes: &[TokenHash],
) -> Result<Vec<Session>, Fault> {
    let wanted = sessions::table.filter(any_token(sessions::token, hashes));
    let rows = on_backend!(conn, c => wanted.load::<SessionRow>(c))?;
    rows.into_iter().map(session::read).collect()
}

pub(crate) fn find_login_secret(
    conn: &mut AnyConnection,
    account: &AccountId,
) -> Result<Option<TokenHash>, Fault> {
    let secret = accounts::table
        .find(account.to_string())
        .filter(accounts::closed_at.is_null())
        .select(accounts::login_secret)
        .first::<Vec<u8>>(conn)
        .optional()?;
    secret.map(|hash| columns::token(hash, "account")).transpose()
}

pub(crate) fn find_recovery_code(
    conn: &mut AnyConnection,
    account: &AccountId,
) -> Result<Option<TokenHash>, Fault> {
    let code = accounts::table
        .find(account.to_string())
        .filter(accounts::closed_at.is_null())
        .select(accounts::recovery_code)
        .first::<Option<Vec<u8>>>(conn)
        .optional()?;
    code.flatten().map(|hash| columns::token(hash, "account")).transpose()
}

pub(crate) fn session_confirmed_at(
    conn: &mut AnyConnection,
    token: &TokenHash,
) -> Result<Option<Timestamp>, Fault> {
    let confirmed = c::table.find(&token.0[..]).select(c::confirmed_at);
    let millis = confirmed.first::<Option<i64>>(conn).optional()?;
    Ok(columns::instant(millis.flatten()))
}

impl AccountRepo for Transaction {
    fn insert_account(&mut self, account: &Account) -> Result<(), StoreError> {
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

    fn lock_account(&mut self, id: &AccountId) -> Result<bool, StoreError> {
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

    fn insert_session(
        &mut self,
        session: &Session,
        started_at: Timestamp,
        source: &RequestSource,
    ) -> Result<(), StoreError> {
        self.run(|conn| session_details::insert(conn, session, started_at, source))
    }

    fn set_last_use(&mut self, sessions: &[TokenHash], hour: Timestamp) -> Result<(), StoreError> {
        self.run(|conn| session_details::set_last_use(conn, sessions, hour))
    }

    fn delete_session(&mut self, token: &TokenHash) -> Result<(), StoreError> {
        let ended =
            self.run(|conn| Ok(diesel::delete(sessions::table.find(&token.0[..])).execute(conn)?))?;
        self.journal_ended_sessions(ended);
        Ok(())
    }

    fn delete_sessions_of(&mut self, account: &AccountId) -> Result<(), StoreError> {
        let of_account = sessions::table.filter(sessions::account_id.eq(account.to_string()));
        let ended = self.run(|conn| Ok(diesel::delete(of_account).execute(conn)?))?;
        self.journal_ended_sessions(ended);
        Ok(())
    }

    fn end_sessions(&mut self, account: Option<&AccountId>, limit: u32) -> Result<u64, StoreError> {
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

    fn set_account_secrets(
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

    fn unconfirm_sessions(
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

    fn confirm_session(&mut self, token: &TokenHash, at: Timestamp) -> Result<(), StoreError> {
        let session = c::table.find(&token.0[..]);
        self.run(|conn| {
            diesel::update(session).set(c::confirmed_at.eq(at.as_millis())).execute(conn)?;
            Ok(())
        })
    }

    fn set_partner(
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
}

impl Transaction {
    fn journal_ended_sessions(&mut self, ended: usize) {
        if ended > 0 {
            self.journaled_acts.add(JournaledAct::SessionsEnded);
        }
    }
}
