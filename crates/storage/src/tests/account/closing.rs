//! Tests that accounts are closed, and that the personal data of their owners is erased.

use std::{collections::BTreeSet, sync::Arc};

use sealpost_domain::{
    AccountId, Activity, ActivityActor, ActivityId, ActivityKind, ApiKey, ApiKeyId, Handle,
    KeyStatus, PartnerId, ReceiptPolicy, RecipientPolicy, Session,
    ports::{
        Closing, ClosingExtent, CountedTable, DeletedRows, Durability::Durable, HandleOwner,
        WriteSet,
    },
};

use crate::tests::{
    fixture::{Fixture, at, envelope, fresh, open_session, token},
    records::api_tokens::api_token,
};

on_both!(
    a_closed_account_is_unusable_and_keeps_its_names,
    an_erased_account_has_no_names,
    a_closing_continues_where_it_stopped,
    a_closed_account_can_be_erased_later,
    an_erased_key_has_no_later_rows,
    an_account_that_does_not_exist_is_not_closed,
);

/// Creates an account with rows of every kind that a closing affects: two API keys, a handle, webhooks, deliveries,
/// sessions, an API token, activity and others.
fn account(db: &Fixture, handle: &str) -> ApiKey {
    let key = db.activate();
    db.activate_beside(&key);
    let webhook = db.register(&key.id);
    db.send(&webhook, 3);
    let account_id = key.account_id;
    let name = Handle::parse(handle).unwrap();
    db.write(Durable, |tx| {
        tx.set_partner(&account_id, Some(&PartnerId::parse(handle).unwrap()))?;
        tx.assign_handle(&name, &HandleOwner { account_id, api_key_id: key.id })?;
        tx.set_shown_handle(&key.id, Some(&name))?;
        for _ in 0..3 {
            open_session(tx, &Session { token: token(), account_id, expires_at: at(99) })?;
            tx.insert_activity(&login(&account_id), 9)?;
        }
        tx.insert_api_token(&api_token(&key))
    })
    .unwrap();
    for n in 0..3 {
        db.execute(&format!(
            "INSERT INTO idempotency_keys (api_key_id, idempotency_key, fingerprint, envelope_id, created_at)
                 SELECT '{id}', 'key-{n}', login_secret, 'env_1', 5 FROM accounts LIMIT 1;
             INSERT INTO daily_counts (api_key_id, day, sent, received, delivered)
                 VALUES ('{id}', {n}, 1, 1, 1);
             INSERT INTO contacts (api_key_id, contact, sent_at) VALUES ('{id}', 'ak_{n}', 1)",
            id = key.id
        ))
        .unwrap();
    }
    let lists = BTreeSet::from([fresh(ApiKeyId::new)]);
    let policy = RecipientPolicy {
        receipts: ReceiptPolicy::None,
        allowed: lists.clone(),
        blocked: lists,
        ..RecipientPolicy::default()
    };
    db.write(Durable, |tx| tx.set_policy(&key.id, &policy)).unwrap();
    key
}

fn login(account: &AccountId) -> Activity {
    Activity {
        id: fresh(ActivityId::new),
        account_id: *account,
        at: at(1),
        kind: ActivityKind::Login,
        actor: ActivityActor::client(),
        client_address: Some("192.0.2.7".parse().unwrap()),
        detail: None,
    }
}

fn begin(db: &Fixture, account: &AccountId, extent: ClosingExtent) -> Option<Closing> {
    db.write(Durable, |tx| tx.begin_closing(account, extent, at(50))).unwrap()
}

/// Runs the transactions of a closing until it is complete. Returns the numbers of deleted rows.
fn finish(db: &Fixture, account: &AccountId, limit: u32) -> DeletedRows {
    let mut rows = DeletedRows::default();
    for _ in 0..100 {
        let portion = db.write(Durable, |tx| tx.close_portion(account, at(60), limit)).unwrap();
        rows = rows.plus(portion.rows);
        if portion.is_complete {
            return rows;
        }
    }
    panic!("the closing does not end");
}

/// Counts the rows of an account and of its key that a closing with erasure must delete or change. Each number of the
/// result is for one kind of row.
fn rows_of(db: &Fixture, key: &ApiKey) -> [i64; 13] {
    let (account, id) = (key.account_id, key.id);
    [
        format!("sessions WHERE account_id = '{account}'"),
        format!("api_tokens WHERE account_id = '{account}'"),
        format!("api_keys WHERE account_id = '{account}' AND status <> 'revoked'"),
        format!("webhooks WHERE api_key_id = '{id}'"),
        format!("handles WHERE account_id = '{account}'"),
        format!(
            "api_keys WHERE account_id = '{account}' AND (label <> 'erased' OR handle IS NOT NULL)"
        ),
        format!("activity WHERE account_id = '{account}'"),
        format!("idempotency_keys WHERE api_key_id = '{id}'"),
        format!("daily_counts WHERE api_key_id = '{id}'"),
        format!("accounts WHERE id = '{account}' AND partner_id IS NOT NULL"),
        format!("contacts WHERE api_key_id = '{id}'"),
        format!("policies WHERE api_key_id = '{id}' AND (allowed <> '' OR blocked <> '')"),
        format!("log_statements WHERE api_key_id = '{id}'"),
    ]
    .map(|rows| db.count(&rows))
}

const ALL: [i64; 13] = [3, 1, 2, 1, 1, 2, 3, 3, 3, 1, 3, 1, 1];

fn a_closed_account_is_unusable_and_keeps_its_names(db: &Fixture) {
    let (mine, other) = (account(db, "alice"), account(db, "bob"));
    let secret = db.read(|reader| reader.find_login_secret(&other.account_id)).unwrap();
    assert_eq!(rows_of(db, &mine), ALL);
    assert!(begin(db, &mine.account_id, ClosingExtent::Close).is_some());
    assert_eq!(db.read(|reader| reader.find_login_secret(&mine.account_id)).unwrap(), None);
    assert_eq!(db.read(|reader| reader.find_recovery_code(&mine.account_id)).unwrap(), None);
    assert_eq!(db.count("accounts WHERE recovery_code IS NULL"), 1);
    assert!(!db.write(Durable, |tx| tx.lock_account(&mine.account_id)).unwrap());
    let closed = finish(db, &mine.account_id, 500);
    let expected = DeletedRows {
        sessions: 3,
        api_tokens: 1,
        keys_revoked: 2,
        webhooks: 1,
        deliveries: 3,
        ..DeletedRows::default()
    };
    assert_eq!(closed, expected);
    assert_eq!(rows_of(db, &mine), [0, 0, 0, 0, 1, 2, 3, 3, 3, 1, 3, 1, 2]);
    assert_eq!(rows_of(db, &other), ALL);
    assert_eq!(db.read(|reader| reader.find_login_secret(&other.account_id)).unwrap(), secret);
    assert_eq!(
        db.count("accounts WHERE closed_at = 50 AND closing IS NULL AND erased_at IS NULL"),
        1
    );
}

fn an_erased_account_has_no_names(db: &Fixture) {
    let (mine, other) = (account(db, "alice"), account(db, "bob"));
    assert!(begin(db, &mine.account_id, ClosingExtent::Erase).is_some());
    let erased = finish(db, &mine.account_id, 500);
    let expected = DeletedRows {
        sessions: 3,
        api_tokens: 1,
        keys_revoked: 2,
        webhooks: 1,
        deliveries: 3,
        handles: 1,
        labels: 2,
        activity: 3,
        idempotency_keys: 3,
        daily_counts: 3,
        contacts: 3,
        // Each of the two keys was activated and revoked.
        log_statements: 4,
    };
    assert_eq!(erased, expected);
    assert_eq!((rows_of(db, &mine), rows_of(db, &other)), ([0; 13], ALL));
    assert_eq!(db.count("accounts WHERE erased_at = 60 AND closing IS NULL"), 1);
    let policy = db.read(|reader| reader.find_policy(&mine.id)).unwrap().unwrap();
    assert_eq!(policy.receipts, ReceiptPolicy::None, "senders see no more than before");
    let key = db.read(|reader| reader.find_key(&mine.id)).unwrap().unwrap();
    assert_eq!((key.status, key.did), (KeyStatus::Revoked, mine.did), "the DID stays on record");
    assert_eq!(db.count("envelopes"), 6, "envelopes stay until the end of retention");
    for (handle, is_erased) in [("alice", true), ("bob", false), ("carol", false)] {
        let handle = Handle::parse(handle).unwrap();
        let found = db.write(Durable, |tx| tx.is_handle_erased(&handle)).unwrap();
        assert_eq!(found, is_erased, "{handle}");
    }
}

fn a_closing_continues_where_it_stopped(db: &Fixture) {
    let mine = account(db, "alice");
    assert!(begin(db, &mine.account_id, ClosingExtent::Erase).is_some());
    for _ in 0..4 {
        let found = db.write(Durable, crate::Transaction::find_closing).unwrap();
        assert_eq!(found, Some(mine.account_id));
        let portion = db.write(Durable, |tx| tx.close_portion(&mine.account_id, at(55), 2));
        assert!(!portion.unwrap().is_complete);
    }
    // A repeated command with a smaller extent still erases.
    let closing = Closing { closed_at: at(50), extent: ClosingExtent::Erase };
    let repeated =
        db.write(Durable, |tx| tx.begin_closing(&mine.account_id, ClosingExtent::Close, at(70)));
    assert_eq!(repeated.unwrap(), Some(closing));
    finish(db, &mine.account_id, 2);
    assert_eq!(rows_of(db, &mine), [0; 13]);
    assert_eq!(db.write(Durable, crate::Transaction::find_closing).unwrap(), None);
    assert_eq!(finish(db, &mine.account_id, 2), DeletedRows::default());
}

fn a_closed_account_can_be_erased_later(db: &Fixture) {
    let mine = account(db, "alice");
    assert!(begin(db, &mine.account_id, ClosingExtent::Close).is_some());
    finish(db, &mine.account_id, 500);
    assert!(begin(db, &mine.account_id, ClosingExtent::Erase).is_some());
    let erased = finish(db, &mine.account_id, 500);
    assert_eq!((erased.labels, erased.handles, erased.keys_revoked), (2, 1, 0));
    assert_eq!(rows_of(db, &mine), [0; 13]);
    assert_eq!(db.count("accounts WHERE closed_at = 50 AND erased_at = 60"), 1);
    // A later closing returns that the account is erased, and keeps the time of the erasure.
    let again = begin(db, &mine.account_id, ClosingExtent::Close).unwrap();
    assert_eq!(again.extent, ClosingExtent::Erase);
    db.execute("UPDATE accounts SET erased_at = 55").unwrap();
    finish(db, &mine.account_id, 500);
    assert_eq!(db.count("accounts WHERE erased_at = 55 AND closing IS NULL"), 1);
}

fn an_erased_key_has_no_later_rows(db: &Fixture) {
    let (mine, other) = (db.activate(), db.activate());
    let envelopes = vec![Arc::new(envelope(&mine.id, &other.id))];
    db.apply(&WriteSet { envelopes, ..WriteSet::default() });
    assert!(begin(db, &mine.account_id, ClosingExtent::Erase).is_some());
    finish(db, &mine.account_id, 500);
    assert_eq!(db.count_rows(CountedTable::Envelopes, at(1 << 40), 9), 1);
    let counts = |key: &ApiKey| db.count(&format!("daily_counts WHERE api_key_id = '{}'", key.id));
    assert_eq!((counts(&mine), counts(&other)), (0, 1));

    // An earlier version of the service also counted envelopes of erased keys, and has left such a row.
    let day = format!("('{}', 0, 1, 0, 0)", mine.id);
    db.execute(&format!("INSERT INTO daily_counts VALUES {day}")).unwrap();
    assert!(begin(db, &mine.account_id, ClosingExtent::Erase).is_some());
    let expected = DeletedRows { daily_counts: 1, ..DeletedRows::default() };
    assert_eq!(finish(db, &mine.account_id, 500), expected);
    assert_eq!((counts(&mine), counts(&other)), (0, 1));
}

fn an_account_that_does_not_exist_is_not_closed(db: &Fixture) {
    let unknown = crate::tests::fixture::account().id;
    assert!(begin(db, &unknown, ClosingExtent::Erase).is_none());
    assert_eq!(finish(db, &unknown, 9), DeletedRows::default());
    assert!(db.read(|reader| reader.keys_of(&unknown, 9, at(0), 0)).unwrap().is_empty());
}
