//! Tests the queries and changes that an account's owner makes on the dashboard.

use std::time::Duration;

use sealpost_domain::{
    Code, EventKind, GovernanceSubject, KeyStatus,
    ports::{CountedTable, DailyCount, Durability},
};
use sealpost_service::{
    Credentials, Error, ListEvents, Login, Recover, Register, SentForm, Settings, WebhookList,
    new_form_id,
};
use sealpost_storage::Database;

use crate::{
    client::{AccountOwner, Manage, Managed, wait},
    support::{World, id, key_of, webhook_for},
};

fn owner<'a>(world: &'a World, who: &Credentials) -> AccountOwner<'a> {
    world.sealpost.owner(who.token.as_deref().unwrap()).unwrap()
}

fn code<T>(result: Result<T, Error>) -> Code {
    result.err().and_then(|error| error.refusal().map(sealpost_domain::Refusal::code)).unwrap()
}

fn somewhere() -> Register {
    webhook_for(EventKind::EnvelopeReceived)
}

/// Returns whether a repetition of a used form shows secrets again at the present time.
fn is_recent(world: &World, form: &SentForm) -> bool {
    let result = wait(world.sealpost.accounts.form_result(form, Duration::ZERO));
    result.unwrap().unwrap().is_recent
}

/// Uses a form and stores its result.
fn used_form(world: &World) -> SentForm {
    let form = SentForm::parse(&new_form_id().unwrap()).unwrap();
    let accounts = &world.sealpost.accounts;
    assert!(wait(accounts.use_form(&form)).unwrap());
    wait(accounts.set_form_result(&form, b"secret")).unwrap();
    assert!(is_recent(world, &form));
    form
}

#[test]
fn a_repeated_form_shows_secrets_within_two_minutes_before_and_after_its_use() {
    let world = World::new();
    let (minute, moment) = (Duration::from_mins(1), Duration::from_millis(1));
    let form = used_form(&world);
    world.clock.set_back(minute * 2);
    world.clock.advance(moment);
    assert!(is_recent(&world, &form));
    world.clock.set_back(moment);
    assert!(!is_recent(&world, &form), "the clock was ahead at the use");
    world.clock.set_back(moment);
    world.clock.advance(minute * 4);
    assert!(is_recent(&world, &form));
    world.clock.advance(moment);
    assert!(!is_recent(&world, &form));
}

#[test]
fn the_time_of_a_form_is_that_of_the_database_server() {
    let world = World::on_postgres(Settings::default());
    let form = used_form(&world);
    world.clock.set_back(Duration::from_hours(24));
    assert!(is_recent(&world, &form), "the clock of another node");
}

#[test]
fn an_ended_session_has_no_owner() {
    let world = World::new();
    let who = world.newcomer(None);
    let owner = owner(&world, &who);
    world.clock.advance(Duration::from_hours(12));
    assert_eq!(code(world.sealpost.owner(who.token.as_deref().unwrap())), Code::Unauthorized);
    assert_eq!(code(world.sealpost.owner("st_rubbish")), Code::Unauthorized);
    assert_eq!(code(owner.manage(&id(&who), Manage::List)), Code::Unauthorized);
    assert_eq!(code(owner.revoke(&id(&who))), Code::Unauthorized);
    assert_eq!(code(owner.register(&id(&who), somewhere())), Code::Unauthorized);
}

#[test]
fn a_login_of_the_api_does_not_confirm_the_owner() {
    let world = World::new();
    let activated = world.activate(None, None).unwrap();
    let (account_id, login_secret) = (activated.account_id, activated.login_secret.unwrap());
    let mut login = Login { account_id: account_id.to_string(), login_secret, on_dashboard: false };
    let mut revoke = |on_dashboard| {
        login.on_dashboard = on_dashboard;
        let token = world.sealpost.login(&login).unwrap().session_token;
        world.sealpost.owner(&token).unwrap().revoke(&activated.api_key_id)
    };
    assert_eq!(code(revoke(false)), Code::Unauthorized);
    revoke(true).unwrap();
}

#[test]
fn a_foreign_key_does_not_exist() {
    let world = World::new();
    let (who, other) = (world.newcomer(None), world.newcomer(None));
    let owner = owner(&world, &who);
    let theirs = id(&other);
    assert_eq!(code(wait(owner.key(&theirs))), Code::KeyNotFound);
    assert_eq!(code(owner.manage(&theirs, Manage::List)), Code::KeyNotFound);
    assert_eq!(code(owner.register(&theirs, somewhere())), Code::KeyNotFound);
    assert_eq!(code(owner.revoke(&theirs)), Code::KeyNotFound);
    assert_eq!(world.operator().show_key(&theirs).unwrap().status, KeyStatus::Active);
}

#[test]
fn pages_count_against_no_limit_and_need_no_active_key() {
    let world = World::new();
    let who = world.newcomer(None);
    let owner = owner(&world, &who);
    world.operator().deactivate_key(&id(&who)).unwrap();
    for _ in 0..50 {
        wait(owner.keys()).unwrap();
        wait(owner.key(&id(&who))).unwrap();
        owner.manage(&id(&who), Manage::List).unwrap();
    }
    let seen = wait(owner.keys()).unwrap().first.remove(0);
    assert_eq!((seen.status, seen.usage.minute.used), (KeyStatus::Deactivated, 0));
}

#[test]
fn only_an_active_unblocked_key_gets_webhooks() {
    let world = World::new();
    let who = world.newcomer(None);
    let owner = owner(&world, &who);
    owner.register(&id(&who), somewhere()).unwrap();
    let subject = GovernanceSubject::Key(id(&who));
    world.operator().enforce(&subject, "because").unwrap();
    assert_eq!(code(owner.register(&id(&who), somewhere())), Code::GovernanceBlocked);
    world.operator().lift(&subject, "no longer").unwrap();
    world.operator().deactivate_key(&id(&who)).unwrap();
    assert_eq!(code(owner.register(&id(&who), somewhere())), Code::KeyInactive);
    let Managed::Listed(WebhookList { webhooks }) = owner.manage(&id(&who), Manage::List).unwrap()
    else {
        panic!("a list");
    };
    assert_eq!(webhooks.len(), 1);
}

#[test]
fn an_inactive_key_allows_listing_and_deleting_only() {
    let world = World::new();
    let who = world.newcomer(None);
    let (owner, key) = (owner(&world, &who), id(&who));
    let webhook_id = || owner.register(&key, somewhere()).unwrap().webhook_id.to_string();
    let (kept, gone) = (webhook_id(), webhook_id());
    let changes = || {
        let (webhook_id, envelope_id) = (kept.clone(), "env_1".to_owned());
        let recover = Recover {
            webhook_id: kept.clone(),
            since: sealpost_domain::Timestamp::from_millis(0),
            until: None,
            dry_run: false,
        };
        [
            Manage::Enable { webhook_id: kept.clone() },
            Manage::Recover(recover),
            Manage::Redeliver { webhook_id: kept.clone(), envelope_id },
            Manage::RotateSecret { webhook_id },
        ]
    };
    world.operator().deactivate_key(&key).unwrap();
    for change in changes() {
        assert_eq!(code(owner.manage(&key, change.clone())), Code::KeyInactive, "{change:?}");
    }
    owner.manage(&key, Manage::List).unwrap();
    owner.manage(&key, Manage::Delete { webhook_id: gone }).unwrap();
    world.operator().reactivate_key(&key).unwrap();
    for change in changes() {
        let refused = owner.manage(&key, change).err();
        let code = refused.and_then(|error| error.refusal().map(sealpost_domain::Refusal::code));
        assert_ne!(code, Some(Code::KeyInactive));
    }
    assert_eq!(wait(owner.standing(&key)).unwrap().webhooks, 1);
}

#[test]
fn a_key_is_revoked_once_and_the_trail_names_the_owner() {
    let world = World::new();
    let who = world.newcomer(None);
    let owner = owner(&world, &who);
    owner.register(&id(&who), somewhere()).unwrap();
    let revoked = owner.revoke(&id(&who)).unwrap();
    assert_eq!((revoked.key.status, revoked.webhooks), (KeyStatus::Revoked, 1));
    assert_eq!(code(owner.revoke(&id(&who))), Code::KeyInactive);
    let trail = world.operator().audit_entries(0, 99).unwrap();
    let acts: Vec<_> = trail.iter().map(|entry| (&*entry.actor, &*entry.action)).collect();
    let actor = format!("account:{}", owner.account_id());
    assert_eq!(acts, [(&*actor, "key.revoke")]);
}

#[test]
fn ending_one_session_keeps_the_others() {
    let world = World::new();
    let first = world.newcomer(None);
    world.clock.advance(Duration::from_secs(1));
    let second = world.log_in_again(&first);
    let owner = owner(&world, &second);
    let sessions = wait(owner.sessions()).unwrap().first;
    let this: Vec<_> = sessions.iter().map(|session| session.is_this).collect();
    assert_eq!(this, [true, false], "those that last longest first");
    assert!(!wait(owner.end_session("0000000000000000")).unwrap());
    assert!(!wait(owner.end_session("no name")).unwrap());
    assert_eq!(wait(owner.sessions()).unwrap().first.len(), 2);
    assert!(wait(owner.end_session(&sessions[1].name)).unwrap());
    assert!(!wait(owner.end_session(&sessions[1].name)).unwrap());
    assert_eq!(code(world.sealpost.owner(first.token.as_deref().unwrap())), Code::Unauthorized);
    assert_eq!(wait(owner.sessions()).unwrap().first.len(), 1);
}

#[test]
fn a_long_list_of_sessions_is_truncated() {
    let world = World::new();
    let who = world.newcomer(None);
    let owner = owner(&world, &who);
    // The session of this request is the oldest, and so the last.
    for _ in 1..100 {
        world.clock.advance(Duration::from_secs(1));
        world.log_in_again(&who);
    }
    let seen = wait(owner.sessions()).unwrap();
    assert_eq!((seen.first.len(), seen.has_more), (100, false));
    assert!(seen.first[99].is_this);
    world.clock.advance(Duration::from_secs(1));
    world.log_in_again(&who);
    let seen = wait(owner.sessions()).unwrap();
    assert_eq!((seen.first.len(), seen.has_more), (100, true));
    wait(owner.end_session(&seen.first[99].name)).unwrap();
    let seen = wait(owner.sessions()).unwrap();
    assert_eq!((seen.first.len(), seen.has_more), (100, false));
    let hidden = seen.first[99].name.clone();
    for _ in 0..2 {
        world.clock.advance(Duration::from_secs(1));
        world.log_in_again(&who);
    }
    assert!(wait(owner.sessions()).unwrap().first.iter().all(|session| session.name != hidden));
    assert!(wait(owner.end_session(&hidden)).unwrap(), "beyond the list");
}

#[tokio::test]
async fn the_page_of_a_key_shows_thirty_days() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    world.clock.advance(Duration::from_hours(11));
    world.sealpost.send_hello(&alice, &key_of(&bob)).await.unwrap();
    let store: &Database = &world.database;
    let now = sealpost_domain::Clock::now(&*world.clock).plus(Duration::from_secs(1));
    let uncounted = store
        .read(|reader| reader.uncounted(CountedTable::Envelopes, now, 9, None))
        .unwrap()
        .unwrap();
    let counted = store.write(Durability::Relaxed, |tx| tx.count(&uncounted)).unwrap();
    assert_eq!(counted, 2);
    let sum = |days: &[DailyCount]| {
        days.iter().fold((0, 0), |sum, day| (sum.0 + day.sent, sum.1 + day.received))
    };
    let days = wait(owner(&world, &alice).key(&id(&alice))).unwrap().days;
    assert_eq!((days.len(), sum(&days)), (30, (2, 0)));
    assert!(days.is_sorted_by_key(|day| day.day));
    assert!(days[29].day <= now && now.since(days[29].day) < Duration::from_hours(24));
    let days = wait(owner(&world, &bob).key(&id(&bob))).unwrap().days;
    assert_eq!((days.len(), sum(&days)), (30, (0, 2)));
}

#[tokio::test]
async fn the_key_of_an_event_is_found_only_by_its_account() {
    let world = World::new();
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let sent = world.sealpost.send_hello(&alice, &key_of(&bob)).await;
    let event = sent.unwrap().message.envelope_id.into();
    assert_eq!(wait(owner(&world, &bob).key_of_event(event)).unwrap(), Some(id(&bob)));
    assert_eq!(wait(owner(&world, &alice).key_of_event(event)).unwrap(), None);
    owner(&world, &bob).revoke(&id(&bob)).unwrap();
    assert_eq!(wait(owner(&world, &bob).key_of_event(event)).unwrap(), Some(id(&bob)));
}

#[test]
fn the_event_log_of_many_webhooks_has_the_chosen_one() {
    let world = World::with(Settings { webhooks_per_key_max: 51, ..Settings::default() });
    let bob = world.newcomer(None);
    let owner = owner(&world, &bob);
    let oldest = owner.register(&id(&bob), somewhere()).unwrap().webhook_id;
    for _ in 0..50 {
        world.clock.advance(Duration::from_millis(1));
        owner.register(&id(&bob), somewhere()).unwrap();
    }
    let list =
        |webhook_id| wait(owner.events(None, ListEvents { webhook_id, ..ListEvents::default() }));
    let log = list(None).unwrap();
    assert_eq!((log.webhooks.len(), log.has_more_webhooks), (50, true));
    assert!(log.webhooks.iter().all(|webhook| webhook.webhook_id != oldest));
    let log = list(Some(oldest)).unwrap();
    assert_eq!(log.webhooks[50].webhook_id, oldest);
}
