//! Tests of the tags of rows: a changed row is not found, and a rotation replaces the tags.

use sealpost_domain::{RequestSource, Session, ports::Durability::Durable};

use crate::{
    Database, Retagging, TaggedTable,
    tests::fixture::{Fixture, account, at, keyring, token},
};

on_both!(
    a_changed_row_is_not_found,
    a_rotation_replaces_each_tag_once_and_drops_forged_tags,
    rows_without_tags_are_adopted_except_closed_accounts,
);

fn a_changed_row_is_not_found(db: &Fixture) {
    let (account, session) = stored(db);
    let is_session = || db.read(|reader| reader.find_session(&session.token)).unwrap().is_some();
    let is_login = || db.read(|reader| reader.find_login_secret(&account)).unwrap().is_some();
    assert!(is_session() && is_login());
    for change in ["expires_at = expires_at + 1", "expires_at = expires_at - 1, tag = NULL"] {
        db.execute(&format!("UPDATE sessions SET {change}")).unwrap();
        assert!(!is_session(), "{change}");
    }
    db.execute("UPDATE accounts SET recovery_code = login_secret").unwrap();
    assert!(!is_login());
    let is_confirmed =
        || db.read(|reader| reader.session_confirmed_at(&session.token)).unwrap().is_some();
    assert!(is_confirmed());
    db.execute("UPDATE sessions SET confirmed_at = confirmed_at + 1").unwrap();
    assert!(!is_confirmed());
}

fn a_rotation_replaces_each_tag_once_and_drops_forged_tags(db: &Fixture) {
    let rows: Vec<_> = (0..5).map(|_| stored(db)).collect();
    db.execute(&format!(
        "UPDATE accounts SET login_secret = recovery_code WHERE id = '{}'",
        rows[0].0
    ))
    .unwrap();
    let rotated = Database::open(&db.url, db.settings).unwrap();
    rotated.authenticate_rows(keyring(2));
    let count = |version| db.write(Durable, |tx| tx.count_tags_under(version)).unwrap();
    assert_eq!((count(1), count(2)), (15, 0));
    assert_eq!(retag(&rotated, Retagging::Renew), 14);
    assert_eq!((count(1), count(2)), (0, 14));
    assert_eq!(retag(&rotated, Retagging::Renew), 0);
    assert_eq!(db.write(Durable, |tx| tx.count_tags_before(2)).unwrap(), 0);
    for (position, (account, session)) in rows.iter().enumerate() {
        let found = rotated.read(|reader| reader.find_login_secret(account)).unwrap();
        assert_eq!(found.is_some(), position > 0);
        assert!(rotated.read(|reader| reader.find_session(&session.token)).unwrap().is_some());
    }
    // A node without the new key returns an error, and does not treat the row as forged.
    assert!(db.read(|reader| reader.find_session(&rows[1].1.token)).is_err());
}

fn rows_without_tags_are_adopted_except_closed_accounts(db: &Fixture) {
    let rows: Vec<_> = (0..3).map(|_| stored(db)).collect();
    db.execute(
        "UPDATE accounts SET tag = NULL; UPDATE sessions SET tag = NULL, confirmation_tag = NULL",
    )
    .unwrap();
    db.execute(&format!("UPDATE accounts SET closed_at = 1 WHERE id = '{}'", rows[0].0)).unwrap();
    assert_eq!(retag(db, Retagging::Renew), 0);
    assert_eq!(retag(db, Retagging::Adopt), 5);
    let session = &rows[1].1.token;
    assert!(db.read(|reader| reader.find_session(session)).unwrap().is_some());
    assert!(db.read(|reader| reader.session_confirmed_at(session)).unwrap().is_none());
}

/// Stores an account with a confirmed session.
fn stored(db: &Fixture) -> (sealpost_domain::AccountId, Session) {
    let account = account();
    let session = Session { token: token(), account_id: account.id, expires_at: at(1_000_000) };
    db.write(Durable, |tx| {
        tx.insert_account(&account)?;
        tx.insert_session(&session, at(1), &RequestSource::default())?;
        tx.confirm_session(&session.token, at(2))
    })
    .unwrap();
    (account.id, session)
}

/// Gives new tags to the rows of all tables, in pages of two. Returns their number.
fn retag(db: &Database, retagging: Retagging) -> u64 {
    let mut retagged = 0;
    for table in TaggedTable::ALL {
        let mut after = Vec::new();
        loop {
            let page = db.write(Durable, |tx| tx.retag_page(table, retagging, &after, 2)).unwrap();
            retagged += page.retagged;
            let Some(last) = page.last else { break };
            after = last;
        }
    }
    retagged
}
