//! Tests that the audit trail is append-only and has no gaps.

use std::thread;

use sealpost_domain::{
    AdminAction, AuditEntry, AuditHash,
    ports::{Durability::Durable, StoreError},
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{Fixture, at},
};

on_both!(
    entries_are_paged_in_order,
    concurrent_appends_leave_no_gap,
    a_rolled_back_entry_leaves_no_gap,
    a_wrong_number_is_refused,
    the_database_refuses_to_change_or_delete,
    readers_do_not_wait_for_an_append,
);

fn entry(number: u64, previous: AuditHash) -> AuditEntry {
    let act = AdminAction {
        actor: "operator:root".to_owned(),
        action: "key.revoke".to_owned(),
        subject: "ak_1".to_owned(),
        detail: "{\"reason\":\"O'Brien \u{1f4ee}\"}".to_owned(),
    };
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    AuditEntry { number, at: at(-5), admin_action: act, previous, hash: AuditHash(hash) }
}

fn append(tx: &mut Transaction) -> Result<AuditEntry, StoreError> {
    let (before, previous) = match tx.lock_audit_head()? {
        None => (0, AuditHash::NONE),
        Some(head) => (head.number, head.hash),
    };
    let entry = entry(before + 1, previous);
    tx.append_audit(&entry)?;
    Ok(entry)
}

fn entries(db: &Fixture, after: u64, limit: u32) -> Vec<AuditEntry> {
    db.write(Durable, |tx| tx.audit_entries(after, limit)).unwrap()
}

fn entries_are_paged_in_order(db: &Fixture) {
    assert_eq!(db.write(Durable, Transaction::lock_audit_head).unwrap(), None);
    let added: Vec<_> = (0..5).map(|_| db.write(Durable, append).unwrap()).collect();
    let head = db.write(Durable, Transaction::lock_audit_head).unwrap();
    assert_eq!(head.as_ref(), added.last());
    assert_eq!(entries(db, 0, 99), added);
    assert_eq!(entries(db, 0, 2), added[..2]);
    assert_eq!(entries(db, 2, 2), added[2..4]);
    assert_eq!(entries(db, 4, 2), added[4..]);
    assert_eq!(entries(db, 5, 2), []);
    assert_eq!(entries(db, u64::MAX, 2), []);
    let newest = |limit| db.write(Durable, |tx| tx.newest_audit_entries(limit)).unwrap();
    assert_eq!((newest(2), newest(5), newest(99)), (added[3..].to_vec(), added.clone(), added));
}

fn concurrent_appends_leave_no_gap(db: &Fixture) {
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let mut tx = db.begin(Durable).unwrap();
                    append(&mut tx).unwrap();
                    tx.commit().unwrap();
                }
            });
        }
    });
    let trail = entries(db, 0, 999);
    assert!(trail.iter().map(|entry| entry.number).eq(1..=60));
    assert!(trail.windows(2).all(|pair| pair[1].previous == pair[0].hash));
}

fn a_rolled_back_entry_leaves_no_gap(db: &Fixture) {
    db.write(Durable, append).unwrap();
    let mut tx = db.begin(Durable).unwrap();
    append(&mut tx).unwrap();
    drop(tx);
    assert_eq!(db.write(Durable, append).unwrap().number, 2);
}

fn a_wrong_number_is_refused(db: &Fixture) {
    db.write(Durable, append).unwrap();
    for number in [0, 1, 3] {
        let done = db.write(Durable, |tx| tx.append_audit(&entry(number, AuditHash::NONE)));
        assert!(matches!(done, Err(StoreError::Refused(_))), "{number}: {done:?}");
    }
    assert_eq!(entries(db, 0, 9).len(), 1);
}

fn the_database_refuses_to_change_or_delete(db: &Fixture) {
    let added: Vec<_> = (0..2).map(|_| db.write(Durable, append).unwrap()).collect();
    for sql in [
        "UPDATE audit_entries SET actor = 'nobody'",
        "UPDATE audit_entries SET number = 7 WHERE number = 2",
        "DELETE FROM audit_entries",
        "DELETE FROM audit_entries WHERE number = 2",
        "TRUNCATE audit_entries",
        "INSERT OR REPLACE INTO audit_entries SELECT number, 9, actor, action, subject, detail, previous, hash
             FROM audit_entries",
        "INSERT INTO audit_entries SELECT number, 9, actor, action, subject, detail, previous, hash
             FROM audit_entries WHERE number = 2
             ON CONFLICT (number) DO UPDATE SET at = excluded.at",
    ] {
        db.execute(sql).unwrap_err();
    }
    assert_eq!(entries(db, 0, 9), added);
}

fn readers_do_not_wait_for_an_append(db: &Fixture) {
    db.write(Durable, append).unwrap();
    let mut tx = db.begin(Durable).unwrap();
    append(&mut tx).unwrap();
    assert_eq!(db.count("audit_entries"), 1);
    tx.commit().unwrap();
    assert_eq!(db.count("audit_entries"), 2);
}
