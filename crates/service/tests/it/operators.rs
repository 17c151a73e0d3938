//! Tests the actions of operators, and their effect on requests of callers.

use std::{thread, time::Duration};

use crate::support::{World, id, key_of, message, refusal, wait_until};
use sealpost_domain::{
    Code, GovernanceSubject, IdempotencyKey, KeyStatus, PartnerId, Plan, Refusal,
    ports::{Durability, FactsQuery},
};
use sealpost_service::{
    Agreement, AuditVerdict, GuardedState, InviteTerms, OperatorError, Settings, unlock,
};
use sealpost_storage::Database;
use sealpost_wallet::{Keyring, kek_version};

#[tokio::test]
async fn a_repeated_rotation_finishes_an_interrupted_one() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let store: &Database = &world.database;
    store.write(Durability::Durable, |tx| tx.set_status(&id(&bob), KeyStatus::Rotating)).unwrap();
    let paused = Refusal::KeyInactive { status: KeyStatus::Rotating, field: Some("to") };
    assert_eq!(refusal(world.sealpost.send_hello(&alice, &key_of(&bob)).await), paused);
    assert_eq!(world.operator().rotate_key(&id(&bob)).unwrap().status, KeyStatus::Active);
    world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    let key = store.read(|reader| reader.find_key(&id(&bob))).unwrap().unwrap();
    assert_eq!(key.sealing_version, 2);
}

#[test]
fn a_closed_account_gets_no_partner() {
    let world = World::new();
    let operator = world.operator();
    let account = operator.show_key(&id(&world.newcomer(None))).unwrap().account_id;
    operator.close_account(&account).unwrap();
    let partner = PartnerId::parse("acme").unwrap();
    assert!(operator.assign_partner(&account, &partner).is_err());
}

#[tokio::test]
async fn a_cached_rate_limit_refuses_until_a_larger_plan_holds() {
    let world = World::new();
    let alice = world.newcomer(None);
    let answer = loop {
        let answer = world.sealpost.status(&alice, &Ok(()));
        if answer.result.is_err() {
            break answer;
        }
    };
    assert_eq!(answer.limits.unwrap().report().minute.remaining, 0);

    // Another writer holds the database: only cached refusals are possible.
    let writing = world.database.begin(Durability::Durable).unwrap();
    let from_memory = world.sealpost.status(&alice, &Ok(()));
    assert_eq!(refusal(from_memory.result).code(), Code::RateLimitExceeded);
    assert_eq!(from_memory.limits.unwrap().report().minute.used, 20);
    drop(writing);

    world.operator().set_plan(&id(&alice), Plan::Builder).unwrap();
    world.clock.advance(Duration::from_secs(5));
    let status = world.sealpost.status(&alice, &Ok(())).result.unwrap();
    assert_eq!((status.plan, status.usage.minute.used), ("builder", 21), "what was used stays");
}

#[tokio::test]
async fn an_idempotent_send_is_stored_once_and_its_key_expires_after_a_day() {
    let settings = Settings { housekeeping_every: Duration::from_millis(5), ..Settings::default() };
    let world = World::with(settings);
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let request = |text| message(&key_of(&bob), text, Some("order-7"));
    let first = world.sealpost.send(&alice, Ok(request("hello"))).await.result.unwrap();
    let again = world.sealpost.send(&alice, Ok(request("hello"))).await.result.unwrap();
    assert_eq!((again.message.envelope_id, again.replayed), (first.message.envelope_id, true));
    let other = world.sealpost.send(&alice, Ok(request("hullo"))).await.result;
    assert_eq!(refusal(other), Refusal::IdempotencyKeyReused);

    // After a day the idempotency key is free for another message.
    world.clock.advance(Duration::from_hours(25));
    let alice = world.log_in_again(&alice);
    let name = IdempotencyKey::parse("order-7").unwrap();
    let wanted = FactsQuery { idempotency: vec![(id(&alice), name)], ..FactsQuery::default() };
    wait_until(|| {
        let facts = world.database.begin(Durability::Relaxed).unwrap().lock_facts(&wanted).unwrap();
        facts.idempotency.is_empty()
    });
    let sent = world.sealpost.send(&alice, Ok(request("hullo"))).await.result.unwrap();
    assert!(!sent.replayed && sent.message.envelope_id != first.message.envelope_id);
}

#[tokio::test]
async fn unused_entries_leave_the_cache_while_the_database_is_unavailable() {
    let settings = Settings { housekeeping_every: Duration::from_millis(1), ..Settings::default() };
    let world = World::with(settings);
    let alice = world.newcomer(None);
    world.newcomer(Some("bob"));
    world.sealpost.send_hello(&alice, "bob").await.unwrap();
    for _ in 0..20 {
        drop(world.sealpost.status(&alice, &Ok(())).result);
    }
    let remembered = || world.sealpost.cache_entries().map(|(_, entries)| entries);
    assert_eq!(remembered(), [1, 2, 1, 1], "handles, keys, refused, sessions");

    // No other writer is active.
    let _writing = world.database.begin(Durability::Relaxed).unwrap();
    wait_until(|| {
        world.clock.advance(Duration::from_mins(5));
        remembered() == [0; 4]
    });
}

#[tokio::test]
async fn a_send_to_a_revoked_key_removes_its_secrets_from_the_cache() {
    let world = World::new();
    let [alice, bob, carol] = [(); 3].map(|()| world.newcomer(None));
    world.sealpost.send_hello(&alice, &id(&bob).to_string()).await.unwrap();
    world.sealpost.send_hello(&carol, &id(&carol).to_string()).await.unwrap();
    let keys = || world.sealpost.cache_entries().map(|(_, entries)| entries)[1];
    assert_eq!(keys(), 3);
    for (revoked, sender) in [(&bob, &alice), (&carol, &carol)] {
        world.operator().revoke_key(&id(revoked)).unwrap();
        let remembered = keys();
        world.sealpost.send_hello(sender, &id(revoked).to_string()).await.unwrap_err();
        assert_eq!(keys(), remembered - 1);
        // A key without a root stays cached.
        world.sealpost.send_hello(sender, &id(revoked).to_string()).await.unwrap_err();
        assert_eq!(keys(), remembered);
        world.sealpost.send_hello(sender, &id(revoked).to_string()).await.unwrap_err();
        assert_eq!(keys(), remembered);
    }
}

#[test]
fn the_audit_trail_has_every_action_and_shows_a_change() {
    let world = World::new();
    let alice = world.newcomer(None);
    let operator = world.operator();
    operator.deactivate_key(&id(&alice)).unwrap();
    operator.reactivate_key(&id(&alice)).unwrap();
    assert!(operator.reactivate_key(&id(&alice)).is_err(), "what is refused is not told");
    operator.revoke_key(&id(&alice)).unwrap();
    let actions: Vec<_> =
        operator.audit_entries(0, 10).unwrap().into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions, ["key.deactivate", "key.reactivate", "key.revoke"]);
    let hash = operator.audit_entries(2, 1).unwrap().remove(0).hash;
    assert_eq!(operator.verify_audit(None).unwrap(), AuditVerdict::Whole { entries: 3, hash });
}

#[test]
fn an_action_is_refused_if_the_state_that_its_page_showed_has_changed() {
    for world in World::on_both(&Settings::default()) {
        let (operator, key) = (world.operator(), id(&world.newcomer(None)));
        let account = operator.show_key(&key).unwrap().account_id;
        let [acme, globex] = ["acme", "globex"].map(|name| PartnerId::parse(name).unwrap());
        let on_key = GovernanceSubject::Key(key);
        let shown = |state: GuardedState| {
            let text = operator.state_text(&state).unwrap();
            operator.if_unchanged(state, &text)
        };
        let is_refused = |refused: Option<OperatorError>| {
            let text = refused.map(|error| error.to_string()).unwrap_or_default();
            text.contains("was changed since")
        };

        let page = shown(GuardedState::Plan(key));
        operator.set_plan(&key, Plan::Builder).unwrap();
        assert!(is_refused(page.set_plan(&key, Plan::Sovereign).err()));
        assert_eq!(operator.show_key(&key).unwrap().plan, "builder");

        let page = shown(GuardedState::Partner(account));
        operator.assign_partner(&account, &acme).unwrap();
        assert!(is_refused(page.assign_partner(&account, &globex).err()));
        shown(GuardedState::Partner(account)).suspend_partner(&acme, "unpaid").unwrap();

        // The lifted decision and the new one are equal, except for their ids.
        let page = shown(GuardedState::Decision(GovernanceSubject::Partner(acme.clone())));
        operator.restore_partner(&acme, "paid").unwrap();
        operator.suspend_partner(&acme, "unpaid").unwrap();
        assert!(is_refused(page.restore_partner(&acme, "paid").err()));

        operator.propose(&on_key, "complaint").unwrap();
        let page = shown(GuardedState::Decision(on_key.clone()));
        operator.lift(&on_key, "resolved").unwrap();
        assert!(is_refused(page.enforce(&on_key, "spam").err()));
        shown(GuardedState::Decision(on_key.clone())).enforce(&on_key, "spam").unwrap();
    }
}

#[test]
fn of_two_operators_with_the_same_page_only_one_changes_the_plan() {
    for world in World::on_both(&Settings::default()) {
        let (operator, key) = (world.operator(), id(&world.newcomer(None)));
        let state = GuardedState::Plan(key);
        let shown = operator.state_text(&state).unwrap();
        let page = operator.if_unchanged(state, &shown);
        let set = |plan: Plan| page.set_plan(&key, plan).is_ok();
        let set = &set;
        let changes = thread::scope(|scope| {
            let both = [Plan::Builder, Plan::Sovereign].map(|plan| scope.spawn(move || set(plan)));
            both.map(|change| change.join().unwrap())
        });
        assert_ne!(changes[0], changes[1]);
    }
}

#[test]
fn the_list_of_invites_continues_after_a_cursor() {
    let world = World::new();
    let operator = world.operator();
    let terms = InviteTerms { uses: 1, expires_in: Duration::from_hours(1), note: None };
    let [oldest, second, newest] = [(); 3].map(|()| {
        world.clock.advance(Duration::from_secs(1));
        operator.create_invite(&terms).unwrap().invite_id
    });
    let page = |below, limit| {
        let page = operator.invites(below, limit).unwrap();
        let ids: Vec<_> = page.entries.into_iter().map(|invite| invite.invite_id).collect();
        (ids, page.more)
    };
    assert_eq!(page(None, 2), (vec![newest, second], true));
    assert_eq!(page(Some(&second), 2), (vec![oldest], false));
    assert_eq!(page(None, 3), (vec![newest, second, oldest], false));
}

#[tokio::test]
async fn re_encryption_covers_every_value_while_the_service_runs() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    world.register(&bob);
    let sent = world.sealpost.send_hello(&alice, &id(&bob).to_string()).await.unwrap();
    let second = Keyring::parse(&Keyring::fresh_line(2).unwrap()).unwrap();
    assert_eq!(world.keyring.add_versions(second), [2]);
    unlock(&world.keyring, &world.database).unwrap();
    let done = world.operator().rewrap(&world.keyring, &mut |_| {}).unwrap();
    assert_eq!((done.version, done.roots, done.secrets), (2, 2, 1));
    let again = world.operator().rewrap(&world.keyring, &mut |_| {}).unwrap();
    assert_eq!((again.roots, again.secrets), (0, 0), "run again it finds nothing to do");
    let root = world.database.read(|reader| reader.find_key(&id(&bob))).unwrap().unwrap().root;
    assert_eq!(kek_version(&root.unwrap()), Some(2));
    let opened =
        world.sealpost.open(&bob, &Ok(sent.message.envelope_id.to_string())).result.unwrap();
    assert_eq!(opened.message, "hello");
}

#[test]
fn a_missing_limit_keeps_its_value_under_a_concurrent_change() {
    let world = World::on_postgres(Settings::default());
    let alice = world.newcomer(None);
    let (operator, key) = (&world.operator(), id(&alice));
    let terms = || {
        let plan = world.database.read(|reader| reader.find_key(&key)).unwrap().unwrap().plan;
        let Plan::Enterprise(terms) = plan else { panic!("{plan:?}") };
        (terms.per_minute, terms.per_day, terms.per_month, terms.per_second, terms.allow_overage)
    };
    operator.set_plan(&key, Plan::Builder).unwrap();
    operator.agree(&key, Agreement { allow_overage: true, ..Agreement::default() }).unwrap();
    assert_eq!(terms(), (200, 10_000, 10_000, 100, true));
    let each = [
        Agreement { per_minute: Some(0), ..Agreement::default() },
        Agreement { per_day: Some(1), ..Agreement::default() },
        Agreement { per_month: Some(2), ..Agreement::default() },
        Agreement { per_second: Some(3), ..Agreement::default() },
    ];
    thread::scope(|scope| {
        for agreement in each {
            scope.spawn(move || operator.agree(&key, agreement).unwrap());
        }
    });
    assert_eq!(terms(), (0, 1, 2, 3, false));
}
