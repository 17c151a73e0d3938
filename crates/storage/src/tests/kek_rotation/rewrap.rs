//! Tests that secrets are encrypted again under a new key-encryption key. Every stored secret is found once, and
//! replaced only if it is unchanged.

use std::thread;

use sealpost_domain::{ApiKeyId, OwnedKey, WebhookId, Wrapped, ports::Durability::Durable};

use crate::{
    WrappedKek,
    tests::fixture::{Fixture, at, issuer_key},
};

on_both!(
    pages_of_roots_cover_every_key_once,
    pages_of_secrets_cover_every_webhook_once,
    pages_of_roots_skip_revoked_keys,
    a_root_is_replaced_only_if_unchanged,
    a_secret_is_replaced_only_if_unchanged,
    one_of_many_concurrent_replacements_wins,
    secrets_of_issuer_keys_are_paged_and_replaced,
    only_a_version_in_use_is_retired,
);

/// Reads all pages of two secrets, each of which must be `expected`. Calls `add` once after the first page: a new id
/// sorts higher, so that a later page contains it.
fn read_pages<Id: Copy>(
    expected: &Wrapped,
    page_after: impl Fn(Option<&Id>) -> Vec<(Id, Wrapped)>,
    add: impl Fn(),
) -> Vec<Id> {
    let mut seen = Vec::new();
    loop {
        let page = page_after(seen.last());
        if page.is_empty() {
            return seen;
        }
        assert!(page.len() <= 2);
        assert!(page.iter().all(|(_, secret)| secret == expected));
        seen.extend(page.iter().map(|(id, _)| *id));
        if seen.len() < 4 {
            add();
        }
    }
}

fn pages_of_roots_cover_every_key_once(db: &Fixture) {
    let there: Vec<_> = (0..5).map(|_| db.activate()).collect();
    let page = |after: Option<&OwnedKey>| db.write(Durable, |tx| tx.roots_after(after, 2)).unwrap();
    let seen = read_pages(there[0].root.as_ref().unwrap(), page, || drop(db.activate()));
    let seen: Vec<_> = seen.iter().map(|key| key.id).collect();
    assert!(seen.is_sorted_by(|one, next| one < next) && seen.len() == 6, "{seen:?}");
    assert!(there.iter().all(|key| seen.contains(&key.id)));
}

fn pages_of_secrets_cover_every_webhook_once(db: &Fixture) {
    let key = db.activate();
    let there: Vec<_> = (0..5).map(|_| db.register(&key.id)).collect();
    let page =
        |after: Option<&WebhookId>| db.write(Durable, |tx| tx.secrets_after(after, 2)).unwrap();
    let seen = read_pages(&there[0].secret, page, || drop(db.register(&key.id)));
    assert!(seen.is_sorted_by(|one, next| one < next) && seen.len() == 6, "{seen:?}");
    assert!(there.iter().all(|one| seen.contains(&one.id)));
}

fn pages_of_roots_skip_revoked_keys(db: &Fixture) {
    let keys = [db.activate(), db.activate(), db.activate()];
    db.write(Durable, |tx| tx.revoke_key(&keys[1].id, at(9))).unwrap();
    let page = db.write(Durable, |tx| tx.roots_after(None, 2)).unwrap();
    let found: Vec<_> = page.iter().map(|(key, _)| *key).collect();
    assert_eq!(found, [&keys[0], &keys[2]].map(OwnedKey::from));
    let page = db.write(Durable, |tx| tx.roots_after(Some(&(&keys[2]).into()), 2)).unwrap();
    assert_eq!(page, []);
}

fn root(db: &Fixture, id: &ApiKeyId) -> Wrapped {
    db.read(|reader| reader.find_key(id)).unwrap().unwrap().root.unwrap()
}

fn a_root_is_replaced_only_if_unchanged(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let owned = OwnedKey::from(&key);
    let (old, new) = (key.root.unwrap(), Wrapped(vec![0, 255]));
    let replace = |from, to| db.write(Durable, |tx| tx.replace_root(&owned, from, to)).unwrap();
    assert!(!replace(&new, &old));
    assert!(replace(&old, &new));
    assert!(!replace(&old, &new));
    assert_eq!((root(db, &key.id), root(db, &other.id)), (new, old));
}

fn a_secret_is_replaced_only_if_unchanged(db: &Fixture) {
    let key = db.activate();
    let (mine, other) = (db.register(&key.id), db.register(&key.id));
    let (old, new) = (mine.secret, Wrapped(vec![0, 255]));
    let replace = |from, to| db.write(Durable, |tx| tx.replace_secret(&mine.id, from, to)).unwrap();
    assert!(!replace(&new, &old));
    assert!(replace(&old, &new));
    assert!(!replace(&old, &new));
    let left = db.write(Durable, |tx| tx.list_webhooks(&key.id)).unwrap();
    let secret = |id| &left.iter().find(|one| one.id == id).unwrap().secret;
    assert_eq!((secret(mine.id), secret(other.id)), (&new, &old));
}

fn one_of_many_concurrent_replacements_wins(db: &Fixture) {
    let key = db.activate();
    let owned = OwnedKey::from(&key);
    let old = key.root.unwrap();
    let replace = |byte| {
        let new = Wrapped(vec![byte]);
        let won = db.write(Durable, |tx| tx.replace_root(&owned, &old, &new)).unwrap();
        won.then_some(new)
    };
    let won: Vec<_> = thread::scope(|scope| {
        let all: Vec<_> = (0..5).map(|byte| scope.spawn(move || replace(byte))).collect();
        all.into_iter().filter_map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(won, [root(db, &key.id)]);
}

fn secrets_of_issuer_keys_are_paged_and_replaced(db: &Fixture) {
    // The newest key signs first, but the pages are in the order of ids.
    let keys = [issuer_key(9), issuer_key(5), issuer_key(1)];
    for key in &keys {
        db.write(Durable, |tx| tx.insert_issuer_key(key)).unwrap();
    }
    let page = |after: Option<usize>| {
        let after = after.map(|index| keys[index].id);
        db.write(Durable, |tx| tx.issuer_secrets_after(after.as_ref(), 2)).unwrap()
    };
    let shown = |index: usize| (keys[index].id, keys[index].secret.clone());
    assert_eq!(page(None), [shown(0), shown(1)]);
    assert_eq!(page(Some(1)), [shown(2)]);
    assert_eq!(page(Some(2)), []);

    let (old, new) = (keys[1].secret.clone(), Wrapped(vec![0, 255]));
    let replace =
        |from, to| db.write(Durable, |tx| tx.replace_issuer_secret(&keys[1].id, from, to)).unwrap();
    assert!(!replace(&new, &old));
    assert!(replace(&old, &new));
    assert!(!replace(&old, &new));
    assert_eq!(page(None), [shown(0), (keys[1].id, new)]);
}

fn only_a_version_in_use_is_retired(db: &Fixture) {
    let kek = WrappedKek { version: 1, provider: "vault".to_owned(), wrapped: Wrapped(vec![5]) };
    assert!(db.insert_wrapped_kek(&kek).unwrap());
    let is_in_use = || db.write(Durable, |tx| tx.lock_kek(1)).unwrap();
    assert!(!is_in_use(), "it has no mark");
    db.insert_kek_mark(1, &Wrapped(vec![7])).unwrap();
    assert!(is_in_use());
    assert_eq!(db.wrapped_keks().unwrap(), [kek]);
    db.write(Durable, |tx| tx.retire_kek(1, at(9))).unwrap();
    assert!(!is_in_use());
    assert_eq!(db.wrapped_keks().unwrap(), []);
}
