//! Tests of retiring secrets (former signing secrets that still sign until they expire): use, re-encryption and
//! deletion.

use sealpost_domain::{
    LeaseToken, RetiringSecret, Webhook, Wrapped,
    ports::{Durability::Durable, Durability::Relaxed, FactsQuery, Outbox},
};

use crate::tests::fixture::{Fixture, at, claim_of};

on_both!(
    claims_and_facts_contain_retiring_secrets,
    retiring_secrets_are_re_encrypted,
    retired_secrets_are_deleted,
    only_its_own_key_locks_a_webhook,
);

fn retiring(byte: u8, until: i64) -> RetiringSecret {
    RetiringSecret { secret: Wrapped(vec![byte; 61]), until: at(until) }
}

fn rotated(db: &Fixture, secrets: &[RetiringSecret]) -> Webhook {
    let to = db.register(&db.activate().id);
    db.write(Durable, |tx| tx.set_secrets(&to.id, &Wrapped(vec![9; 61]), secrets)).unwrap();
    to
}

fn find(db: &Fixture, of: &Webhook) -> Webhook {
    let locked = db.write(Durable, |tx| tx.lock_webhook(&of.api_key_id, &of.id));
    locked.unwrap().unwrap()
}

fn claims_and_facts_contain_retiring_secrets(db: &Fixture) {
    let secrets = [retiring(1, 9000), retiring(2, 8000)];
    let to = rotated(db, &secrets);
    db.send(&to, 1);
    let claimed = db.claim(&claim_of(1000, 1, LeaseToken(1))).unwrap();
    let wanted = FactsQuery { recipients: vec![to.api_key_id], ..FactsQuery::default() };
    let facts = db.write(Durable, |tx| tx.lock_facts(&wanted)).unwrap();
    for target in [&claimed[0].target, &facts.webhooks[&to.api_key_id].0[0].target] {
        assert_eq!((&target.secret, &*target.retiring), (&Wrapped(vec![9; 61]), &secrets[..]));
    }
    assert_eq!(find(db, &to).retiring, secrets);
}

fn retiring_secrets_are_re_encrypted(db: &Fixture) {
    let to = rotated(db, &[retiring(1, 9000), retiring(2, 8000)]);
    let page = db.write(Durable, |tx| tx.secrets_after(None, 1)).unwrap();
    let bytes: Vec<_> = page.iter().map(|(id, secret)| (*id, secret.0[0])).collect();
    assert_eq!(bytes, [(to.id, 9), (to.id, 1), (to.id, 2)]);
    let replace = |old: &Wrapped, byte: u8| {
        let new = Wrapped(vec![byte; 70]);
        db.write(Durable, |tx| tx.replace_secret(&to.id, old, &new)).unwrap()
    };
    assert!(page.iter().zip(11..).all(|((_, old), byte)| replace(old, byte)));
    assert!(!replace(&page[1].1, 99), "the old secret was replaced already");
    let found = find(db, &to);
    let secrets: Vec<_> = found.retiring.iter().map(|it| (it.secret.0[0], it.until)).collect();
    assert_eq!((found.secret.0[0], &*secrets), (11, &[(12, at(9000)), (13, at(8000))][..]));
}

fn retired_secrets_are_deleted(db: &Fixture) {
    let some = rotated(db, &[retiring(1, 9000), retiring(2, 8000)]);
    let all = rotated(db, &[retiring(3, 8000)]);
    let none = rotated(db, &[retiring(4, 8001)]);
    let purge =
        |now, limit| db.write(Relaxed, |tx| tx.purge_retired_secrets(at(now), limit)).unwrap();
    assert_eq!(purge(7999, 9), 0);
    assert_eq!((purge(8000, 1), purge(8000, 9), purge(8000, 9)), (1, 1, 0));
    assert_eq!(find(db, &some).retiring, [retiring(1, 9000)]);
    assert_eq!(find(db, &all).retiring, []);
    assert_eq!(find(db, &none).retiring, [retiring(4, 8001)]);
    assert_eq!(purge(9000, 9), 2);
    assert_eq!(db.count("webhooks WHERE retiring IS NOT NULL OR retiring_until IS NOT NULL"), 0);
}

fn only_its_own_key_locks_a_webhook(db: &Fixture) {
    let (to, other) = (db.register(&db.activate().id), db.activate());
    let lock = |key| db.write(Durable, |tx| tx.lock_webhook(key, &to.id)).unwrap();
    assert!(lock(&to.api_key_id).is_some());
    assert!(lock(&other.id).is_none());
}
