//! Tests of invites to open an account: lookup, use and revocation.

use std::thread;

use sealpost_domain::{
    Invite, InviteId,
    ports::{Durability::Durable, StoreError},
};

use crate::tests::fixture::{Fixture, at, fresh, token};

on_both!(
    an_invite_is_found_by_its_secret,
    an_invite_is_used_only_while_it_is_active,
    concurrent_uses_never_exceed_the_number_of_uses,
    an_invite_is_revoked_once,
);

fn invite(uses: u32) -> Invite {
    Invite {
        id: fresh(InviteId::new),
        secret: token(),
        note: Some("for \"O'Brien\"".to_owned()),
        uses,
        used: 0,
        created_at: at(1),
        expires_at: at(100),
        revoked_at: None,
    }
}

fn insert(db: &Fixture, invite: &Invite) {
    db.write(Durable, |tx| tx.insert_invite(invite)).unwrap();
}

fn use_at(db: &Fixture, invite: &Invite, now: i64) -> Result<bool, StoreError> {
    db.write(Durable, |tx| tx.use_invite(&invite.id, at(now)))
}

fn an_invite_is_found_by_its_secret(db: &Fixture) {
    let (one, other) = (invite(1), Invite { note: None, ..invite(2) });
    insert(db, &one);
    insert(db, &other);
    let find = |secret| db.read(|reader| reader.find_invite(secret)).unwrap();
    assert_eq!(find(&one.secret), Some(one.clone()));
    assert_eq!(find(&token()), None);
    let listed = |below, limit| db.read(|reader| reader.invites(below, limit)).unwrap();
    assert_eq!(listed(None, 9), [other.clone(), one.clone()]);
    assert_eq!(listed(None, 1), std::slice::from_ref(&other));
    assert_eq!(listed(Some(&other.id), 9), [one]);
}

fn an_invite_is_used_only_while_it_is_active(db: &Fixture) {
    let active = invite(2);
    insert(db, &active);
    assert!(!use_at(db, &active, 100).unwrap(), "it has expired");
    assert!(use_at(db, &active, 99).unwrap());
    assert!(use_at(db, &active, 99).unwrap());
    assert!(!use_at(db, &active, 99).unwrap(), "it is used up");
    let revoked = invite(9);
    insert(db, &revoked);
    db.write(Durable, |tx| tx.revoke_invite(&revoked.id, at(5))).unwrap();
    assert!(!use_at(db, &revoked, 99).unwrap());
    assert!(!use_at(db, &invite(1), 99).unwrap(), "it does not exist");
}

fn concurrent_uses_never_exceed_the_number_of_uses(db: &Fixture) {
    let invite = invite(3);
    insert(db, &invite);
    let used = thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(|| use_at(db, &invite, 2).unwrap()));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(used.iter().filter(|used| **used).count(), 3);
    assert_eq!(db.count("invites WHERE used = 3"), 1);
}

fn an_invite_is_revoked_once(db: &Fixture) {
    let invite = invite(3);
    insert(db, &invite);
    let revoke = |when| db.write(Durable, |tx| tx.revoke_invite(&invite.id, at(when))).unwrap();
    assert_eq!(revoke(7), Some(Invite { revoked_at: Some(at(7)), ..invite.clone() }));
    assert_eq!(revoke(8), None);
    assert_eq!(db.count("invites WHERE revoked_at = 7"), 1);
}
