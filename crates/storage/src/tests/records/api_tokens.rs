//! Tests of API tokens: storage, last use and deletion.

use sealpost_domain::{
    ApiKey, ApiToken, ApiTokenId, Label, TokenScope, TokenScopes,
    ports::{Durability::Durable, FactsQuery},
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{Fixture, at, fresh, token},
};

on_both!(
    a_token_reads_back_until_it_is_deleted,
    only_the_owner_or_an_operator_deletes_a_token,
    a_last_use_moves_forward_unless_a_clock_was_wrong,
    expired_tokens_are_neither_counted_nor_listed,
    a_batch_finds_a_token_until_it_is_deleted,
);

fn a_token_reads_back_until_it_is_deleted(db: &Fixture) {
    let created = insert(db, &db.activate());
    let find = || db.read(|reader| reader.find_api_tokens(&[created.token, token()])).unwrap();
    assert_eq!(find(), std::slice::from_ref(&created));
    assert_eq!(db.read(|reader| reader.find_sessions(&[created.token])).unwrap(), []);
    db.write(Durable, |tx| tx.delete_api_tokens_of(&created.account_id)).unwrap();
    assert_eq!(find(), []);
}

fn only_the_owner_or_an_operator_deletes_a_token(db: &Fixture) {
    let (mine, other) = (db.activate(), db.activate());
    let created = [insert(db, &mine), insert(db, &mine)];
    let delete =
        |id, account| db.write(Durable, |tx| tx.delete_api_token(id, account)).unwrap().is_some();
    assert!(!delete(&created[0].id, Some(&other.account_id)));
    assert!(delete(&created[0].id, Some(&mine.account_id)));
    assert!(!delete(&created[0].id, Some(&mine.account_id)));
    assert!(delete(&created[1].id, None));
}

fn a_last_use_moves_forward_unless_a_clock_was_wrong(db: &Fixture) {
    let created = insert(db, &db.activate());
    let hour = |number: i64| at(number * 3_600_000);
    for (used, expected) in [(7, 7), (6, 7), (30, 30), (8, 8)] {
        let used = hour(used);
        db.write(Durable, |tx| tx.set_api_token_uses(&[created.token], used)).unwrap();
        let found = db.read(|reader| reader.find_api_tokens(&[created.token])).unwrap();
        assert_eq!(found[0].last_used_at, Some(hour(expected)));
    }
}

fn expired_tokens_are_neither_counted_nor_listed(db: &Fixture) {
    let created = insert(db, &db.activate());
    for (now, is_live) in [(99, true), (100, false)] {
        let count = |tx: &mut Transaction| tx.count_api_tokens(&created.account_id, at(now));
        assert_eq!(db.write(Durable, count).unwrap(), u64::from(is_live));
        let listed = db.read(|reader| reader.api_tokens_of(&created.account_id, at(now))).unwrap();
        assert_eq!(listed.len(), usize::from(is_live));
    }
}

/// A batch of sends finds an API token in the same way as a session. After the deletion of its row, a cached token is
/// no longer found.
fn a_batch_finds_a_token_until_it_is_deleted(db: &Fixture) {
    let key = db.activate();
    let created = insert(db, &key);
    let query = FactsQuery {
        sessions: vec![created.token],
        callers: vec![key.id],
        ..FactsQuery::default()
    };
    let find = || {
        let facts = db.write(Durable, |tx| tx.lock_facts(&query)).unwrap();
        facts.sessions.get(&created.token).map(|found| (found.account_id, found.expires_at))
    };
    let expected = Some((created.account_id, created.expires_at));
    assert_eq!([find(), find()], [expected; 2]);
    db.write(Durable, |tx| tx.set_api_token_uses(&[created.token], at(3))).unwrap();
    assert_eq!(find(), expected);
    db.write(Durable, |tx| tx.delete_api_token(&created.id, None)).unwrap();
    assert_eq!(find(), None);
}

pub(in crate::tests) fn insert(db: &Fixture, key: &ApiKey) -> ApiToken {
    let created = api_token(key);
    db.write(Durable, |tx| tx.insert_api_token(&created)).unwrap();
    created
}

pub(in crate::tests) fn api_token(key: &ApiKey) -> ApiToken {
    let scopes: TokenScopes = [TokenScope::Read, TokenScope::Send].into_iter().collect();
    ApiToken {
        id: fresh(ApiTokenId::new),
        token: token(),
        account_id: key.account_id,
        api_key_id: key.id,
        name: Label::parse("order service").unwrap(),
        scopes,
        created_at: at(1),
        expires_at: at(100),
        last_used_at: None,
    }
}
