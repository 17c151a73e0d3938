//! Tests of used forms: a form is used once, leads to its result, and can be released.

use std::thread;

use sealpost_domain::{TokenHash, ports::Durability::Relaxed};

use crate::account::used_forms::UsedForm;
use crate::tests::fixture::{Fixture, at, token};

on_both!(a_form_is_used_once_and_leads_to_its_result, one_of_concurrent_uses_is_the_first,);

fn use_at(db: &Fixture, form: &TokenHash, now: i64) -> bool {
    db.write(Relaxed, |tx| tx.use_form(form, at(now))).unwrap()
}

fn a_form_is_used_once_and_leads_to_its_result(db: &Fixture) {
    let (form, other) = (token(), token());
    let result = || db.write(Relaxed, |tx| tx.find_used_form(&form)).unwrap();
    assert_eq!(result(), None);
    assert!(use_at(db, &form, 1));
    assert!(!use_at(db, &form, 2));
    assert_eq!(result(), Some(UsedForm { used_at: at(1), result: None }));
    db.write(Relaxed, |tx| tx.set_form_result(&form, b"sealed")).unwrap();
    assert_eq!(result(), Some(UsedForm { used_at: at(1), result: Some(b"sealed".to_vec()) }));
    assert!(use_at(db, &other, 2));
    db.write(Relaxed, |tx| tx.release_form(&form)).unwrap();
    assert_eq!(result(), None);
    assert!(use_at(db, &form, 3));
    assert!(!use_at(db, &other, 3));
}

fn one_of_concurrent_uses_is_the_first(db: &Fixture) {
    let form = token();
    let first = thread::scope(|scope| {
        let uses: Vec<_> = (0..4).map(|_| scope.spawn(|| use_at(db, &form, 1))).collect();
        uses.into_iter().map(|it| it.join().unwrap()).filter(|it| *it).count()
    });
    assert_eq!(first, 1);
}
