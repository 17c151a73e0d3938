//! Reads the id of a database, and stores the marks of its revocation journals. A revocation journal is a file that
//! repeats revocations after a restore. Its mark is a number that each durable transaction with journaled changes
//! raises.

use std::sync::Arc;

use diesel::{
    dsl::{exists, max},
    prelude::*,
};
use sealpost_domain::{
    AccountSecrets, KeyStatus,
    ports::{Durability, JournaledAct, RevocationJournal, StoreError},
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError},
    database::Database,
    records::accounts::account_content,
    rows::columns,
    schema::{
        accounts as a, api_keys as k, badges as b, database_identity as i, journal_marks as m,
    },
};

impl Database {
    /// Attaches the revocation journal. Later transactions of this database and its clones append their revocations and
    /// similar changes to the journal. Does nothing if a journal is already attached.
    pub fn attach_journal(&self, journal: Arc<dyn RevocationJournal>) {
        // An error only means that a journal is already attached.
        drop(self.journal.set(journal));
    }

    /// Returns the random id of this database. Copies and restored backups have the same id.
    pub fn identity(&self) -> Result<String, StoreError> {
        self.look_up(|conn| {
            let id = i::table.select(max(i::id)).get_result::<Option<String>>(conn)?;
            id.ok_or(QueryError::Corrupt("id of the database"))
        })
    }

    /// Returns the mark of a revocation journal: a number that each durable transaction with journaled changes raises.
    /// `None` if the database has no mark of this journal.
    pub fn journal_mark(&self, journal: &str) -> Result<Option<u64>, StoreError> {
        self.look_up(|conn| {
            let mark = m::table.find(journal).select(m::mark).first::<i64>(conn).optional()?;
            mark.map(|mark| columns::number(mark, "mark of a journal")).transpose()
        })
    }

    /// Returns true if a transaction of this database has raised the [mark](Self::journal_mark) of any revocation
    /// journal.
    pub fn has_journaled_acts(&self) -> Result<bool, StoreError> {
        self.look_up(|conn| {
            Ok(diesel::select(exists(m::table.filter(m::mark.gt(0)))).get_result(conn)?)
        })
    }

    /// Returns the revocations and similar changes that are in force, as [acts](JournaledAct) to complete a revocation
    /// journal. Revoked API tokens are missing, because their rows are deleted. The act of an open account contains the
    /// hashes of its current secrets.
    pub fn acts_in_force(&self) -> Result<Vec<JournaledAct>, StoreError> {
        let (mut acts, accounts) = self.look_up(|conn| {
            let mut acts = key_acts(conn)?;
            let badges = b::table.filter(b::revoked_at.is_not_null()).select(b::id);
            for id in badges.load::<String>(conn)? {
                acts.push(JournaledAct::BadgeRevoked(columns::id(&id, "badge")?));
            }
            Ok((acts, a::table.select(AccountRow::as_select()).load(conn)?))
        })?;
        for account in accounts {
            acts.extend(self.account_act(account)?);
        }
        acts.push(JournaledAct::SessionsEnded);
        Ok(acts)
    }

    /// Returns the [act](JournaledAct) that describes the state of an account: erased, closed, or open with the hashes
    /// of its current secrets. `None` for an open account without a recovery code, or if the
    /// [tag](sealpost_domain::ports::RowAuthenticator) of the row does not match its content.
    fn account_act(&self, account: AccountRow) -> Result<Option<JournaledAct>, StoreError> {
        let AccountRow { id: text, login_secret, recovery_code, closed_at, erased_at, tag } =
            account;
        let id = columns::id(&text, "account")?;
        let code = match (erased_at, closed_at, recovery_code) {
            (Some(_), _, _) => return Ok(Some(JournaledAct::AccountErased(id))),
            (None, Some(_), _) => return Ok(Some(JournaledAct::AccountClosed(id))),
            // Accounts of early versions have no recovery code, and no replaced secrets.
            (None, None, None) => return Ok(None),
            (None, None, Some(code)) => code,
        };
        let content = account_content(&text, &login_secret, Some(&code));
        if !self.row_tags.is_unsuspicious(&content, tag.as_deref())? {
            return Ok(None);
        }
        let login_secret = columns::token(login_secret, "account")?;
        let recovery_code = columns::token(code, "account")?;
        let secrets = AccountSecrets { login_secret, recovery_code };
        Ok(Some(JournaledAct::SecretsReplaced(id, secrets)))
    }

    /// Raises the [mark](Self::journal_mark) of a revocation journal to at least `mark`.
    pub fn raise_journal_mark(&self, journal: &str, mark: u64) -> Result<(), StoreError> {
        self.transact(Durability::Durable, |conn| {
            let mark: i64 = columns::number(mark, "mark of a journal")?;
            let row = (m::journal.eq(journal), m::mark.eq(mark));
            on_backend!(conn, c => {
                diesel::insert_into(m::table).values(row).on_conflict_do_nothing().execute(c)?;
                let lower = m::table.find(journal).filter(m::mark.lt(mark));
                diesel::update(lower).set(m::mark.eq(mark)).execute(c)?;
            });
            Ok(())
        })
    }
}

fn key_acts(conn: &mut AnyConnection) -> Result<Vec<JournaledAct>, QueryError> {
    let ended = [KeyStatus::Revoked.as_str(), KeyStatus::Deactivated.as_str()];
    let keys = k::table.filter(k::status.eq_any(ended)).select((k::id, k::status));
    let act = |(id, status): (String, String)| {
        let id = columns::id(&id, "key")?;
        Ok(if columns::key_status(&status)? == KeyStatus::Revoked {
            JournaledAct::KeyRevoked(id)
        } else {
            JournaledAct::KeyDeactivated(id)
        })
    };
    keys.load(conn)?.into_iter().map(act).collect()
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = a)]
struct AccountRow {
    id: String,
    login_secret: Vec<u8>,
    recovery_code: Option<Vec<u8>>,
    closed_at: Option<i64>,
    erased_at: Option<i64>,
    tag: Option<Vec<u8>>,
}
