//! Tests that transactions take effect completely or not at all.

use sealpost_domain::Wrapped;
use sealpost_domain::ports::{
    Durability::{Durable, Relaxed},
    StoreError,
};

use crate::{
    Abort,
    tests::fixture::{Fixture, account, key},
};

on_both!(
    uncommitted_changes_are_rolled_back,
    a_refused_act_writes_nothing,
    a_transaction_with_a_failed_statement_cannot_be_committed,
    a_panic_rolls_back,
    both_durabilities_commit,
    a_transaction_sees_its_own_writes,
    the_first_mark_of_a_kek_version_stays,
);

fn uncommitted_changes_are_rolled_back(db: &Fixture) {
    let account = account();
    let mut tx = db.begin(Durable).unwrap();
    tx.insert_account(&account).unwrap();
    drop(tx);
    let refused = db.write(Durable, |tx| {
        tx.insert_account(&account)?;
        Err::<(), _>(StoreError::Corrupt("test"))
    });
    assert!(matches!(refused, Err(StoreError::Corrupt("test"))));
    assert_eq!(db.read(|reader| reader.find_login_secret(&account.id)).unwrap(), None);
}

fn a_refused_act_writes_nothing(db: &Fixture) {
    let account = account();
    let refused = db.write_or_refuse(Durable, |tx| {
        tx.insert_account(&account)?;
        Err::<(), _>(Abort::Refused("test"))
    });
    assert!(matches!(refused, Err(Abort::Refused("test"))));
    assert_eq!(db.read(|reader| reader.find_login_secret(&account.id)).unwrap(), None);
}

fn a_transaction_with_a_failed_statement_cannot_be_committed(db: &Fixture) {
    let (one, other) = (account(), account());
    let done = db.write(Durable, |tx| {
        tx.insert_account(&one)?;
        tx.insert_account(&one).unwrap_err();
        drop(tx.insert_account(&other));
        Ok(())
    });
    assert!(matches!(done, Err(StoreError::Refused(_))), "{done:?}");
    assert_eq!(db.read(|reader| reader.find_login_secret(&one.id)).unwrap(), None);
}

fn a_panic_rolls_back(db: &Fixture) {
    let account = account();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut tx = db.begin(Durable).unwrap();
        tx.insert_account(&account).unwrap();
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(panicked.is_err());
    assert_eq!(db.read(|reader| reader.find_login_secret(&account.id)).unwrap(), None);
    db.write(Durable, |tx| tx.insert_account(&account)).unwrap();
}

fn both_durabilities_commit(db: &Fixture) {
    for durability in [Durable, Relaxed, Relaxed, Durable, Durable] {
        let account = account();
        db.write(durability, |tx| tx.insert_account(&account)).unwrap();
        assert!(db.read(|reader| reader.find_login_secret(&account.id)).unwrap().is_some());
    }
}

fn a_transaction_sees_its_own_writes(db: &Fixture) {
    let account = account();
    let key = key(&account.id);
    let seen = db.write(Durable, |tx| {
        tx.insert_account(&account)?;
        tx.insert_key(&key)?;
        tx.find_key(&key.id)
    });
    assert!(seen.unwrap().is_some());
}

fn the_first_mark_of_a_kek_version_stays(db: &Fixture) {
    let mark = |byte| Wrapped(vec![byte; 9]);
    assert_eq!(db.kek_marks().unwrap(), []);
    for (version, byte) in [(2, 20), (1, 10), (2, 99)] {
        db.insert_kek_mark(version, &mark(byte)).unwrap();
    }
    assert_eq!(db.kek_marks().unwrap(), [(1, mark(10)), (2, mark(20))]);
}
