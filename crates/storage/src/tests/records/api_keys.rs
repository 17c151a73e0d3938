//! Tests of API keys and their handles (unique names). Also tests that a revoked key stays revoked.

use std::thread;

use sealpost_domain::{
    AccountId, ApiKey, EnterpriseTerms, Handle, KeyStatus, Plan, Usage,
    ports::{Durability::Durable, FactsQuery, HandleOwner, KeySnapshot, StoreError, WriteSet},
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{Fixture, account, key},
};

on_both!(
    a_key_reads_back_whole,
    every_plan_reads_back,
    a_key_without_an_account_is_refused,
    keys_and_snapshots_are_returned_for_existing_ids,
    only_live_keys_are_counted,
    a_handle_leads_to_the_newest_key,
    one_of_many_keys_gets_a_handle,
    one_of_two_successors_gets_a_handle,
    one_of_two_successors_that_lock_the_account_gets_a_handle,
    a_handle_never_leaves_its_account,
    revoked_is_final,
    setting_one_field_of_a_key_keeps_the_others,
    a_plan_is_replaced_and_usage_stays,
);

fn a_key_reads_back_whole(db: &Fixture) {
    let account = account();
    let key = ApiKey {
        handle: Some(Handle::parse("bob").unwrap()),
        sealing_version: 7,
        ..key(&account.id)
    };
    db.write(Durable, |tx| {
        tx.insert_account(&account)?;
        tx.insert_key(&key)
    })
    .unwrap();
    let found = db.read(|reader| reader.find_key(&key.id)).unwrap().unwrap();
    assert_eq!(format!("{found:?}"), format!("{key:?}"));
    assert_eq!((found.did, found.root), (key.did, key.root));
    assert!(
        db.read(|reader| reader.find_key(&crate::tests::fixture::key(&account.id).id))
            .unwrap()
            .is_none()
    );
}

fn keys_and_snapshots_are_returned_for_existing_ids(db: &Fixture) {
    let account = account();
    let keys = [KeyStatus::Active, KeyStatus::Deactivated, KeyStatus::Rotating, KeyStatus::Revoked];
    let keys = keys.map(|status| {
        let key = key(&account.id);
        let root = key.root.clone().filter(|_| status != KeyStatus::Revoked);
        ApiKey { status, root, sealing_version: 3, ..key }
    });
    db.write(Durable, |tx| {
        tx.insert_account(&account)?;
        keys.iter().try_for_each(|key| tx.insert_key(key))
    })
    .unwrap();
    let missing = key(&account.id);
    let [active, deactivated, rotating, revoked] = keys.each_ref().map(|key| key.id);
    let wanted = [revoked, missing.id, rotating, active];
    let mut found = db.read(|reader| reader.find_key_snapshots(&wanted)).unwrap();
    found.sort_unstable_by_key(|state| state.id);
    let mut expected = [active, rotating, revoked].map(|id| {
        let key = keys.iter().find(|key| key.id == id).unwrap();
        KeySnapshot { id, status: key.status, sealing_version: 3 }
    });
    expected.sort_unstable_by_key(|state| state.id);
    assert_eq!(found, expected, "{deactivated} was not requested");
    assert_eq!(db.read(|reader| reader.find_key_snapshots(&[])).unwrap(), []);
    let mut found = db.read(|reader| reader.find_keys(&wanted)).unwrap();
    found.sort_unstable_by_key(|key| key.id);
    let mut expected = keys.to_vec();
    expected.retain(|key| key.id != deactivated);
    expected.sort_unstable_by_key(|key| key.id);
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    assert!(db.read(|reader| reader.find_keys(&[])).unwrap().is_empty());
}

fn every_plan_reads_back(db: &Fixture) {
    let terms = EnterpriseTerms {
        per_minute: u32::MAX,
        per_day: 2,
        per_month: 3,
        per_second: 4,
        allow_overage: true,
    };
    let account = account();
    db.write(Durable, |tx| tx.insert_account(&account)).unwrap();
    for plan in [Plan::Builder, Plan::Enterprise(terms), Plan::Explorer, Plan::Sovereign] {
        let key = ApiKey { plan, ..key(&account.id) };
        db.write(Durable, |tx| tx.insert_key(&key)).unwrap();
        assert_eq!(db.read(|reader| reader.find_key(&key.id)).unwrap().unwrap().plan, plan);
    }
}

fn a_key_without_an_account_is_refused(db: &Fixture) {
    let orphan = key(&account().id);
    let done = db.write(Durable, |tx| tx.insert_key(&orphan));
    assert!(matches!(done, Err(StoreError::Refused(_))), "{done:?}");
}

fn only_live_keys_are_counted(db: &Fixture) {
    let first = db.activate();
    let revoked = ApiKey { status: KeyStatus::Revoked, root: None, ..key(&first.account_id) };
    let paused = ApiKey { status: KeyStatus::Deactivated, ..key(&first.account_id) };
    db.activate();
    let count = db
        .write(Durable, |tx| {
            tx.insert_key(&revoked)?;
            tx.insert_key(&paused)?;
            tx.count_live_keys(&first.account_id)
        })
        .unwrap();
    assert_eq!(count, 2);
}

fn a_handle_leads_to_the_newest_key(db: &Fixture) {
    let old = db.activate();
    let new = db.activate_beside(&old);
    let bob = Handle::parse("bob").unwrap();
    let find = || db.read(|reader| reader.find_handle(&bob)).unwrap();
    assert_eq!(find(), None);
    for owner in [owner(&old), owner(&new)] {
        db.write(Durable, |tx| tx.assign_handle(&bob, &owner)).unwrap();
        assert_eq!(find(), Some(owner));
    }
    let back_and_forth = db.write(Durable, |tx| {
        tx.find_handle(&bob)?;
        [&old, &new].into_iter().try_for_each(|key| tx.assign_handle(&bob, &owner(key)))
    });
    back_and_forth.unwrap();
    assert_eq!(find(), Some(owner(&new)));
}

fn one_of_many_keys_gets_a_handle(db: &Fixture) {
    let bob = Handle::parse("bob").unwrap();
    let keys: Vec<_> = (0..6).map(|_| db.activate()).collect();
    let take = |key: &ApiKey| {
        db.write(Durable, |tx| {
            let is_free = tx.find_handle(&bob)?.is_none();
            if is_free {
                tx.assign_handle(&bob, &owner(key))?;
            }
            Ok(is_free)
        })
    };
    let won: Vec<_> = thread::scope(|scope| {
        let takers: Vec<_> = keys.iter().map(|key| scope.spawn(|| take(key).unwrap())).collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).collect()
    });
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
    let winner = &keys[won.iter().position(|won| *won).unwrap()];
    assert_eq!(db.read(|reader| reader.find_handle(&bob)).unwrap(), Some(owner(winner)));
}

fn one_of_two_successors_gets_a_handle(db: &Fixture) {
    race_for_a_handle(db, |_, _| Ok(()));
}

/// Each transaction first locks the account, like the activation of a key, which counts the keys of the account.
fn one_of_two_successors_that_lock_the_account_gets_a_handle(db: &Fixture) {
    race_for_a_handle(db, |tx, account| tx.lock_account(account).map(drop));
}

fn race_for_a_handle(
    db: &Fixture,
    prepare: impl Fn(&mut Transaction, &AccountId) -> Result<(), StoreError> + Sync,
) {
    let bob = Handle::parse("bob").unwrap();
    let old = db.activate();
    db.write(Durable, |tx| tx.assign_handle(&bob, &owner(&old))).unwrap();
    let assign = |key: &ApiKey| {
        db.write(Durable, |tx| {
            prepare(tx, &old.account_id)?;
            let is_first = tx.find_handle(&bob)? == Some(owner(&old));
            if is_first {
                tx.assign_handle(&bob, &owner(key))?;
            }
            Ok(is_first)
        })
    };
    let successors = [db.activate_beside(&old), db.activate_beside(&old)];
    let won = thread::scope(|scope| {
        let threads = successors.each_ref().map(|key| scope.spawn(|| assign(key).unwrap()));
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(won[0] != won[1], "{won:?}");
}

fn a_handle_never_leaves_its_account(db: &Fixture) {
    let (mine, other) = (db.activate(), db.activate());
    let bob = Handle::parse("bob").unwrap();
    let assign = |key| db.write(Durable, |tx| tx.assign_handle(&bob, &owner(key)));
    assign(&mine).unwrap();
    let taken = assign(&other);
    assert!(matches!(taken, Err(StoreError::Contended(_))), "{taken:?}");
    let seen_and_taken = db.write(Durable, |tx| {
        assert_eq!(tx.find_handle(&bob)?, Some(owner(&mine)));
        tx.assign_handle(&bob, &owner(&other))
    });
    assert!(matches!(seen_and_taken, Err(StoreError::Contended(_))), "{seen_and_taken:?}");
    assert_eq!(db.read(|reader| reader.find_handle(&bob)).unwrap(), Some(owner(&mine)));
}

fn revoked_is_final(db: &Fixture) {
    let key = db.activate();
    let set = |assignment: &str| {
        db.execute(&format!("UPDATE api_keys SET {assignment} WHERE id = '{}'", key.id))
    };
    set("status = 'revoked', root = NULL").unwrap();
    for assignment in [
        "status = 'active'",
        "status = 'deactivated'",
        "root = did::bytea",
        "root = CAST(did AS BLOB)",
        "status = 'active', root = NULL",
    ] {
        set(assignment).unwrap_err();
    }
    set("label = 'still mine'").unwrap();
    let found = db.read(|reader| reader.find_key(&key.id)).unwrap().unwrap();
    assert_eq!((found.status, found.root), (KeyStatus::Revoked, None));
    assert_eq!(found.did, key.did);
}

fn setting_one_field_of_a_key_keeps_the_others(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let locked = db.write(Durable, |tx| {
        let locked = tx.lock_key(&key.id)?;
        tx.set_status(&key.id, KeyStatus::Rotating)?;
        tx.set_sealing_version(&key.id, 2)?;
        Ok(locked)
    });
    assert_eq!(format!("{:?}", locked.unwrap().unwrap()), format!("{key:?}"));
    let find = |id| format!("{:?}", db.read(|reader| reader.find_key(id)).unwrap().unwrap());
    let other_now = find(&other.id);
    let changed = ApiKey { status: KeyStatus::Rotating, sealing_version: 2, ..key };
    assert_eq!(find(&changed.id), format!("{changed:?}"));
    assert_eq!(other_now, format!("{other:?}"));
}

fn a_plan_is_replaced_and_usage_stays(db: &Fixture) {
    let key = db.activate();
    let used = Usage { throughput_tat_us: 9, ..Usage::UNUSED };
    db.apply(&WriteSet { usage: vec![(key.id, used)], ..WriteSet::default() });
    let (per_minute, per_day, per_month, per_second) = (1, 2, 3, 4);
    let terms = EnterpriseTerms { per_minute, per_day, per_month, per_second, allow_overage: true };
    for plan in [Plan::Enterprise(terms), Plan::Sovereign] {
        db.write(Durable, |tx| tx.set_plan(&key.id, &plan)).unwrap();
        assert_eq!(db.read(|reader| reader.find_key(&key.id)).unwrap().unwrap().plan, plan);
    }
    assert_eq!(db.count("api_keys WHERE enterprise_per_minute IS NOT NULL"), 0);
    let wanted = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    let facts = db.write(Durable, |tx| tx.lock_facts(&wanted)).unwrap();
    assert_eq!((facts.keys[&key.id].plan, facts.usage[&key.id]), (Plan::Sovereign, used));
}

fn owner(key: &ApiKey) -> HandleOwner {
    HandleOwner { account_id: key.account_id, api_key_id: key.id }
}
