//! Tests the activity log of accounts, the stored last use of sessions, and housekeeping that completes the interrupted
//! closing of an account.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use sealpost_domain::{
    AccountId, ActivityKind, ApiToken, ApiTokenId, Clock as _, Code, Handle, KeyStatus, Label,
    RequestSource, Timestamp, TokenScope,
    ports::{ClosingExtent, Durability},
};
use sealpost_service::{Credentials, Login, Settings};
use sealpost_storage::Database;
use sealpost_wallet::{KeyToken, LoginSecret};

use crate::{
    client::wait,
    support::{World, failing_after, id, refusal, wait_until},
};

fn account_of(world: &World, who: &Credentials) -> AccountId {
    world.operator().show_key(&id(who)).unwrap().account_id
}

fn kinds(world: &World, account: &AccountId) -> Vec<ActivityKind> {
    let entries = world.database.read(|reader| reader.activity_of(account, None, 99)).unwrap();
    entries.into_iter().map(|entry| entry.kind).collect()
}

/// Waits until `is_done` returns true as a result of housekeeping. Advances the clock by a minute after each check.
#[track_caller]
fn await_housekeeping(world: &World, mut is_done: impl FnMut() -> bool) {
    wait_until(|| {
        let is_done = is_done();
        if !is_done {
            world.clock.advance(Duration::from_mins(1));
        }
        is_done
    });
}

fn often() -> Settings {
    let every = Duration::from_millis(5);
    Settings { housekeeping_every: every, waiting_transfer_every: every, ..Settings::default() }
}

#[test]
fn failed_logins_of_a_clock_ahead_do_not_hide_later_ones() {
    for world in World::on_both(&Settings::default()) {
        let account = account_of(&world, &world.newcomer(None));
        let login_secret = LoginSecret::generate().unwrap().expose().to_owned();
        let account_id = account.to_string();
        let wrong = Login { account_id, login_secret, on_dashboard: true };
        let fail = || assert!(world.sealpost.login(&wrong).is_err());
        let failed = || {
            kinds(&world, &account).iter().filter(|it| **it == ActivityKind::LoginFailed).count()
        };
        for _ in 0..11 {
            world.clock.advance(Duration::from_mins(1));
            fail();
        }
        assert_eq!(failed(), 10, "ten in an hour");
        world.clock.set_back(Duration::from_mins(4));
        fail();
        assert_eq!(failed(), 10, "the clocks of two nodes differ a little");
        world.clock.set_back(Duration::from_hours(24));
        fail();
        assert_eq!(failed(), 11);
    }
}

#[test]
fn housekeeping_deletes_old_activity_only() {
    let settings = Settings { activity_retention: Duration::from_hours(6), ..often() };
    for world in World::on_both(&settings) {
        let account = account_of(&world, &world.newcomer(None));
        assert_eq!(kinds(&world, &account).len(), 2);
        await_housekeeping(&world, || kinds(&world, &account).is_empty());
        let newer = account_of(&world, &world.newcomer(None));
        assert_eq!(kinds(&world, &newer).len(), 2);
    }
}

#[test]
fn an_owner_sees_that_an_operator_gave_a_reserved_handle_to_another_account() {
    for world in World::on_both(&Settings::default()) {
        let (alice, bob) = (world.newcomer(Some("alice")), world.newcomer(None));
        let (operator, handle) = (world.operator(), Handle::parse("alice").unwrap());
        operator.revoke_key(&id(&alice)).unwrap();
        operator.assign_handle(&handle, &id(&bob)).unwrap();
        for account in [&alice, &bob].map(|who| account_of(&world, who)) {
            let newest = world.database.read(|reader| reader.activity_of(&account, None, 1));
            let detail = newest.unwrap().remove(0).detail;
            assert_eq!(detail.as_deref(), Some("handle.assign handle:alice"));
        }
    }
}

#[test]
fn the_last_use_of_a_session_is_stored_to_the_hour() {
    for world in World::on_both(&often()) {
        let who = world.newcomer(None);
        let account = account_of(&world, &who);
        let last_use = || {
            let begin = Timestamp::from_millis(0);
            let sessions = world.database.read(|reader| reader.sessions_of(&account, begin, 9));
            sessions.unwrap()[0].last_used_at.map(Timestamp::as_millis)
        };
        assert_eq!(last_use(), None);
        world.sealpost.status(&who, &Ok(())).result.unwrap();
        await_housekeeping(&world, || last_use().is_some());
        let first = last_use().unwrap();
        assert_eq!(first % 3_600_000, 0);
        world.clock.advance(Duration::from_hours(2));
        world.sealpost.status(&who, &Ok(())).result.unwrap();
        await_housekeeping(&world, || last_use().unwrap() >= first + 2 * 3_600_000);
    }
}

#[test]
fn a_list_of_api_tokens_has_the_queued_uses_and_stores_none() {
    let rarely = Duration::from_hours(1);
    let settings = Settings { waiting_transfer_every: rarely, ..Settings::default() };
    for world in World::on_both(&settings) {
        let owner = world.newcomer(None);
        let account = account_of(&world, &owner);
        let api_token = new_api_token(&world, &owner);
        let listed = || {
            let listed = wait(async {
                let session = world.sealpost.authenticate_session(owner.token.as_deref()).await?;
                world.sealpost.accounts.api_tokens(&session).await
            });
            listed.unwrap().tokens[0].last_used_at
        };
        assert_eq!(listed(), None);
        world.sealpost.status(&api_token, &Ok(())).result.unwrap();
        let now = world.clock.now();
        let hour = now.as_millis() - now.as_millis() % 3_600_000;
        assert_eq!(listed(), Some(Timestamp::from_millis(hour)));
        let stored = world.database.read(|reader| reader.api_tokens_of(&account, now)).unwrap();
        assert_eq!(stored[0].last_used_at, None);
    }
}

/// Stores an API token for the key of `session`, valid for an hour. Returns its credentials.
fn new_api_token(world: &World, session: &Credentials) -> Credentials {
    let (secret, now) = (KeyToken::generate().unwrap(), world.clock.now());
    let token = ApiToken {
        id: ApiTokenId::new(now, [7; 10]),
        token: secret.hash(),
        account_id: account_of(world, session),
        api_key_id: id(session),
        name: Label::parse("reader").unwrap(),
        scopes: [TokenScope::Read].into_iter().collect(),
        created_at: now,
        expires_at: now.plus(Duration::from_hours(1)),
        last_used_at: None,
    };
    world.database.write(Durability::Durable, |tx| tx.insert_api_token(&token)).unwrap();
    Credentials { token: Some(secret.expose().to_owned()), key: session.key.clone() }
}

#[test]
fn the_stop_stores_the_last_use_of_sessions_and_api_tokens() {
    let rarely = Duration::from_hours(1);
    let settings = Settings { waiting_transfer_every: rarely, ..Settings::default() };
    for world in World::on_both(&settings) {
        let session = world.newcomer(None);
        let account_id = account_of(&world, &session);
        let api_token = new_api_token(&world, &session);
        let (now, begin) = (world.clock.now(), Timestamp::from_millis(0));
        for caller in [&session, &api_token, &api_token] {
            world.sealpost.status(caller, &Ok(())).result.unwrap();
        }
        world.sealpost.stop();
        let sessions = world.database.read(|reader| reader.sessions_of(&account_id, begin, 9));
        let tokens = world.database.read(|reader| reader.api_tokens_of(&account_id, begin));
        let uses = [sessions.unwrap()[0].last_used_at, tokens.unwrap()[0].last_used_at];
        let hour = now.as_millis() - now.as_millis() % 3_600_000;
        assert_eq!(uses, [Some(Timestamp::from_millis(hour)); 2]);
    }
}

#[test]
fn housekeeping_continues_an_interrupted_closing() {
    for world in World::on_both(&often()) {
        let (who, other) = (world.newcomer(Some("alice")), world.newcomer(None));
        let account = account_of(&world, &who);
        let store: &Database = &world.database;
        let now = Timestamp::from_millis(1_790_000_000_000);
        let begun = store
            .write(Durability::Durable, |tx| tx.begin_closing(&account, ClosingExtent::Erase, now));
        assert!(begun.unwrap().is_some());
        let is_erased = || {
            let shown = world.operator().show_account(&account).unwrap();
            shown.account.erased_at.is_some()
        };
        await_housekeeping(&world, is_erased);
        let shown = world.operator().show_account(&account).unwrap();
        let key = &shown.keys[0].key;
        assert_eq!((shown.session_count, key.status), (0, KeyStatus::Revoked));
        assert_eq!((key.label.as_str(), &key.handle), ("erased", &None));
        assert_eq!(kinds(&world, &account), []);
        assert!(!kinds(&world, &account_of(&world, &other)).is_empty());
    }
}

#[test]
fn an_error_after_the_account_is_closed_leaves_the_closing_incomplete() {
    for world in World::on_both(&Settings::default()) {
        let activated = world.activate(None, None).unwrap();
        let login_secret = activated.login_secret.unwrap();
        let account_id = activated.account_id.to_string();
        let login = Login { account_id, login_secret: login_secret.clone(), on_dashboard: true };
        let token = world.sealpost.login(&login).unwrap().session_token;
        // Only the transaction that closes the account succeeds.
        let store = failing_after(&world, &Arc::new(AtomicUsize::new(1)));
        let node = world.node_on(store, Settings::default());
        let closed = wait(async {
            let session = node.authenticate_session(Some(&token)).await?;
            node.accounts.close(session.with_secret(login_secret, RequestSource::default())).await
        });
        let closed = closed.unwrap();
        assert_eq!((closed.complete, closed.deleted.sessions), (false, 1));
        assert_eq!(refusal(world.sealpost.login(&login)).code(), Code::Unauthorized);
    }
}
