//! Tests of accounts with their login secrets and partners, and of sessions.

use sealpost_domain::{
    AccountSecrets, PartnerId, Session,
    ports::{Durability::Durable, StoreError},
};

use crate::tests::fixture::{Fixture, account, at, open_session, secrets, token};

on_both!(
    the_secrets_of_an_account_read_back,
    a_session_reads_back_until_it_is_deleted,
    many_sessions_are_found_by_one_statement,
    all_sessions_of_an_account_are_deleted_and_no_other,
    only_an_account_that_exists_can_be_locked,
    secrets_are_replaced_for_their_account_alone,
    a_session_is_confirmed_alone,
    an_account_belongs_to_one_partner_or_none,
);

fn the_secrets_of_an_account_read_back(db: &Fixture) {
    let account = account();
    db.write(Durable, |tx| tx.insert_account(&account)).unwrap();
    let mut lookup = db.reader();
    let AccountSecrets { login_secret, recovery_code } = account.secrets;
    assert_eq!(lookup.find_login_secret(&account.id).unwrap(), Some(login_secret));
    assert_eq!(lookup.find_recovery_code(&account.id).unwrap(), Some(recovery_code));
    assert_eq!(lookup.find_login_secret(&crate::tests::fixture::account().id).unwrap(), None);
}

fn a_session_reads_back_until_it_is_deleted(db: &Fixture) {
    let key = db.activate();
    let session = Session { token: token(), account_id: key.account_id, expires_at: at(9) };
    db.write(Durable, |tx| open_session(tx, &session)).unwrap();
    let find = || db.read(|reader| reader.find_session(&session.token)).unwrap();
    assert_eq!(find(), Some(session.clone()));
    db.write(Durable, |tx| tx.delete_session(&session.token)).unwrap();
    assert_eq!(find(), None);
}

fn many_sessions_are_found_by_one_statement(db: &Fixture) {
    let key = db.activate();
    let sessions: Vec<_> = (0..300)
        .map(|n| Session { token: token(), account_id: key.account_id, expires_at: at(n) })
        .collect();
    db.write(Durable, |tx| sessions.iter().try_for_each(|session| open_session(tx, session)))
        .unwrap();
    // The query contains every second session twice, and unknown tokens.
    let expected: Vec<_> = sessions.iter().step_by(2).cloned().collect();
    let wanted: Vec<_> =
        expected.iter().flat_map(|session| [token(), session.token, session.token]).collect();
    let mut found = db.read(|reader| reader.find_sessions(&wanted)).unwrap();
    found.sort_by_key(|session| session.expires_at);
    assert_eq!(found, expected);
    assert_eq!(db.read(|reader| reader.find_sessions(&[])).unwrap(), []);
}

fn all_sessions_of_an_account_are_deleted_and_no_other(db: &Fixture) {
    let (one, other) = (db.activate(), db.activate());
    let sessions = [&one, &one, &other].map(|key| Session {
        token: token(),
        account_id: key.account_id,
        expires_at: at(9),
    });
    db.write(Durable, |tx| {
        sessions.iter().try_for_each(|session| open_session(tx, session))?;
        tx.delete_sessions_of(&one.account_id)
    })
    .unwrap();
    let mut lookup = db.reader();
    let found = sessions.map(|session| lookup.find_session(&session.token).unwrap().is_some());
    assert_eq!(found, [false, false, true]);
}

fn only_an_account_that_exists_can_be_locked(db: &Fixture) {
    let key = db.activate();
    let lock = |id| db.write(Durable, |tx| tx.lock_account(id)).unwrap();
    assert!(lock(&key.account_id));
    assert!(!lock(&account().id));
}

fn secrets_are_replaced_for_their_account_alone(db: &Fixture) {
    let (mine, other) = (account(), account());
    let fresh = secrets();
    db.write(Durable, |tx| {
        tx.insert_account(&mine)?;
        tx.insert_account(&other)?;
        tx.set_account_secrets(&mine.id, &fresh)
    })
    .unwrap();
    let mut lookup = db.reader();
    assert_eq!(lookup.find_login_secret(&mine.id).unwrap(), Some(fresh.login_secret));
    assert_eq!(lookup.find_recovery_code(&mine.id).unwrap(), Some(fresh.recovery_code));
    let others = other.secrets;
    assert_eq!(lookup.find_login_secret(&other.id).unwrap(), Some(others.login_secret));
    assert_eq!(lookup.find_recovery_code(&other.id).unwrap(), Some(others.recovery_code));
    let missing = db.write(Durable, |tx| tx.set_account_secrets(&account().id, &fresh));
    assert!(matches!(missing, Err(StoreError::Corrupt("account"))), "{missing:?}");
}

fn a_session_is_confirmed_alone(db: &Fixture) {
    let account_id = db.activate().account_id;
    let [mine, other] =
        [token(), token()].map(|token| Session { token, account_id, expires_at: at(9) });
    db.write(Durable, |tx| {
        open_session(tx, &mine)?;
        open_session(tx, &other)?;
        tx.confirm_session(&mine.token, at(3))?;
        tx.confirm_session(&token(), at(3))
    })
    .unwrap();
    let mut lookup = db.reader();
    assert_eq!(lookup.session_confirmed_at(&mine.token).unwrap(), Some(at(3)));
    assert_eq!(lookup.session_confirmed_at(&other.token).unwrap(), None);
    assert_eq!(lookup.session_confirmed_at(&token()).unwrap(), None);
    assert_eq!(lookup.find_session(&mine.token).unwrap(), Some(mine.clone()));
    drop(lookup);

    db.write(Durable, |tx| {
        tx.confirm_session(&other.token, at(4))?;
        tx.unconfirm_sessions(&account_id, &other.token)
    })
    .unwrap();
    let mut lookup = db.reader();
    assert_eq!(lookup.session_confirmed_at(&mine.token).unwrap(), None);
    assert_eq!(lookup.session_confirmed_at(&other.token).unwrap(), Some(at(4)));
}

fn an_account_belongs_to_one_partner_or_none(db: &Fixture) {
    let [acme, other] = ["acme", "other"].map(|name| PartnerId::parse(name).unwrap());
    let (one, two) = (db.activate().account_id, db.activate().account_id);
    let set = |account, partner| db.write(Durable, |tx| tx.set_partner(account, partner));
    let count = || {
        [&acme, &other]
            .map(|partner| db.write(Durable, |tx| tx.count_accounts_of(partner)).unwrap())
    };
    assert_eq!(count(), [0, 0]);
    assert!(set(&one, Some(&acme)).unwrap() && set(&two, Some(&acme)).unwrap());
    assert_eq!(count(), [2, 0]);
    assert!(set(&one, Some(&other)).unwrap());
    assert_eq!(count(), [1, 1]);
    assert!(set(&two, None).unwrap());
    assert_eq!(count(), [0, 1]);
    let partner_of = |id| db.reader().partner_of(id).unwrap();
    assert_eq!([&one, &two, &account().id].map(partner_of), [Some(other.clone()), None, None]);
    assert!(!set(&account().id, Some(&acme)).unwrap());
}
