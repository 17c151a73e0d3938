//! Tests of the activity log of accounts.

use sealpost_domain::{
    AccountId, Activity, ActivityActor, ActivityId, ActivityKind, ApiKey,
    ports::Durability::Durable,
};

use crate::tests::fixture::{Fixture, at, fresh, token};

on_both!(
    entries_are_listed_newest_first_in_pages,
    each_kind_is_bounded_for_each_account,
    entries_of_a_kind_are_counted_in_a_period,
    old_entries_are_purged_oldest_first,
);

fn entry(account: &AccountId, kind: ActivityKind) -> Activity {
    let id = fresh(ActivityId::new);
    Activity {
        id,
        account_id: *account,
        at: at(7),
        kind,
        actor: ActivityActor::session(&token()),
        client_address: Some("192.0.2.7".parse().unwrap()),
        detail: Some("O'Brien \"süß\"".to_owned()),
    }
}

fn record(db: &Fixture, entry: &Activity, kept_max: u32) {
    db.write(Durable, |tx| tx.insert_activity(entry, kept_max)).unwrap();
}

fn list(db: &Fixture, key: &ApiKey, below: Option<&ActivityId>, limit: u32) -> Vec<Activity> {
    db.read(|reader| reader.activity_of(&key.account_id, below, limit)).unwrap()
}

fn entries_are_listed_newest_first_in_pages(db: &Fixture) {
    let (mine, other) = (db.activate(), db.activate());
    let bare = Activity {
        client_address: None,
        detail: None,
        actor: ActivityActor::operator(),
        ..entry(&mine.account_id, ActivityKind::Operator)
    };
    let mut entries = vec![bare];
    entries.extend(ActivityKind::ALL.map(|kind| entry(&mine.account_id, kind)));
    for entry in &entries {
        record(db, entry, 9);
    }
    record(db, &entry(&other.account_id, ActivityKind::Login), 9);
    entries.reverse();
    assert_eq!(list(db, &mine, None, 99), entries);
    assert_eq!(list(db, &mine, None, 5), entries[..5]);
    assert_eq!(list(db, &mine, Some(&entries[4].id), 99), entries[5..]);
    assert_eq!(list(db, &other, None, 99).len(), 1);
}

fn each_kind_is_bounded_for_each_account(db: &Fixture) {
    let (mine, other) = (db.activate(), db.activate());
    let login = entry(&mine.account_id, ActivityKind::Login);
    record(db, &login, 2);
    record(db, &entry(&other.account_id, ActivityKind::WebhookDeleted), 2);
    let flood = [(); 5].map(|()| entry(&mine.account_id, ActivityKind::WebhookDeleted));
    for entry in &flood {
        record(db, entry, 2);
    }
    let expected = [flood[4].clone(), flood[3].clone(), login];
    assert_eq!(list(db, &mine, None, 99), expected, "another kind stays");
    assert_eq!(list(db, &other, None, 99).len(), 1, "another account stays");
}

fn entries_of_a_kind_are_counted_in_a_period(db: &Fixture) {
    let key = db.activate();
    let at_time = |millis| Activity {
        id: ActivityId::new(at(millis), [9; 10]),
        ..entry(&key.account_id, ActivityKind::LoginFailed)
    };
    for millis in [1_000_001, 1_000_002, 1_000_003] {
        record(db, &at_time(millis), 9);
    }
    record(db, &entry(&key.account_id, ActivityKind::Login), 9);
    let count = |from, to, limit| {
        let kind = ActivityKind::LoginFailed;
        let (account, period) = (&key.account_id, at(from)..at(to));
        let outside = db.read(|reader| reader.count_activity(account, kind, &period, limit));
        let inside = db.write(Durable, |tx| tx.count_activity(account, kind, &period, limit));
        let counted = (outside.unwrap(), inside.unwrap());
        assert_eq!(counted.0, counted.1);
        counted.0
    };
    let end = 2_000_000;
    assert_eq!([count(0, end, 9), count(1_000_002, end, 9), count(0, end, 2)], [3, 2, 2]);
    assert_eq!([count(1_000_004, end, 9), count(0, 1_000_003, 9)], [0, 2]);
}

fn old_entries_are_purged_oldest_first(db: &Fixture) {
    let key = db.activate();
    for millis in [1_000_001, 1_000_002, 1_000_003] {
        let id = ActivityId::new(at(millis), [9; 10]);
        record(db, &Activity { id, ..entry(&key.account_id, ActivityKind::Login) }, 9);
    }
    let purge = |limit| db.write(Durable, |tx| tx.purge_activity(at(1_000_003), limit)).unwrap();
    assert_eq!([purge(1), purge(9), purge(9)], [1, 1, 0]);
    assert_eq!(list(db, &key, None, 9).len(), 1);
}
