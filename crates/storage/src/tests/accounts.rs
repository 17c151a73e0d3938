//! Accounts and sessions.

use sealpost_domain::{
    Session,
    ports::{Durability::Durable, Store},
};

use super::fixture::{Fixture, account, at, token};

on_both!(
    a_login_secret_reads_back,
    a_session_reads_back_until_it_is_ended,
    every_session_of_an_account_ends_and_no_other,
    only_an_account_that_exists_can_be_locked,
);

fn a_login_secret_reads_back(db: &Fixture) {
    let account = account();
    db.store().write(Durable, |tx| tx.insert_account(&account)).unwrap();
    let mut lookup = db.lookup().unwrap();
    assert_eq!(lookup.find_login_secret(&account.id).unwrap(), Some(account.login_secret));
    assert_eq!(lookup.find_login_secret(&super::fixture::account().id).unwrap(), None);
}

fn a_session_reads_back_until_it_is_ended(db: &Fixture) {
    let key = db.activate();
    let session = Session { token: token(), account_id: key.account_id, expires_at: at(9) };
    db.store().write(Durable, |tx| tx.insert_session(&session)).unwrap();
    let find = || db.lookup().unwrap().find_session(&session.token).unwrap();
    assert_eq!(find(), Some(session.clone()));
    db.store().write(Durable, |tx| tx.delete_session(&session.token)).unwrap();
    assert_eq!(find(), None);
}

fn every_session_of_an_account_ends_and_no_other(db: &Fixture) {
    let (one, other) = (db.activate(), db.activate());
    let sessions = [&one, &one, &other].map(|key| Session {
        token: token(),
        account_id: key.account_id,
        expires_at: at(9),
    });
    db.store()
        .write(Durable, |tx| {
            sessions.iter().try_for_each(|session| tx.insert_session(session))?;
            tx.delete_sessions_of(&one.account_id)
        })
        .unwrap();
    let mut lookup = db.lookup().unwrap();
    let found = sessions.map(|session| lookup.find_session(&session.token).unwrap().is_some());
    assert_eq!(found, [false, false, true]);
}

fn only_an_account_that_exists_can_be_locked(db: &Fixture) {
    let key = db.activate();
    let lock = |id| db.store().write(Durable, |tx| tx.lock_account(id)).unwrap();
    assert!(lock(&key.account_id));
    assert!(!lock(&account().id));
}
