//! Tests that requests of unauthenticated or foreign callers are refused before a transaction begins. A transaction
//! would lock rows that other requests need.

use sealpost_domain::{Code, Refusal, ports::Durability};
use sealpost_service::{Credentials, Error, KeyNamed, Scope, Settings};
use sealpost_wallet::SessionToken;

use crate::client::Manage;
use crate::support::{World, id, refusal};

#[test]
fn a_foreign_caller_waits_for_no_other_transaction() {
    for world in World::on_both(&Settings::default()) {
        a_foreign_caller_waits_for_nothing(&world);
    }
}

/// Checks that requests of foreign callers are refused while another transaction holds the lock of the key. A request
/// that waits for the lock would make other requests wait as well.
fn a_foreign_caller_waits_for_nothing(world: &World) {
    let (alice, mallory) = (world.newcomer(None), world.newcomer(None));
    let gone = world.log_in_again(&alice);
    world.sealpost.logout(gone.token.as_deref(), Ok(Scope::Session)).unwrap();
    let made_up = SessionToken::generate().unwrap().expose().to_owned();
    let made_up = Credentials { token: Some(made_up), key: alice.key.clone() };
    let foreign = Credentials { token: mallory.token.clone(), key: alice.key.clone() };
    let nowhere =
        Credentials { token: mallory.token.clone(), key: KeyNamed::Key(UNKNOWN_KEY.into()) };
    // A cached session must not reveal keys.
    let elsewhere = world.log_in_again(&mallory);
    world.sealpost.status(&elsewhere, &Ok(())).result.unwrap();
    let another_node = world.another_node(Settings::default());
    another_node.logout(elsewhere.token.as_deref(), Ok(Scope::Session)).unwrap();
    let elsewhere = Credentials { key: nowhere.key.clone(), ..elsewhere };

    let mut holder = world.database.begin(Durability::Durable).unwrap();
    // Locks the key directly: a wait for facts would time out first.
    holder.lock_key(&id(&alice)).unwrap();
    for (who, code) in [
        (&made_up, Code::Unauthorized),
        (&gone, Code::Unauthorized),
        (&foreign, Code::Unauthorized),
        (&nowhere, Code::KeyNotFound),
        (&elsewhere, Code::Unauthorized),
    ] {
        assert_eq!(every_answer(world, who), [code; 7]);
    }
    let owner = world.sealpost.owner(mallory.token.as_deref().unwrap()).unwrap();
    let managed = owner.manage(&id(&alice), Manage::List);
    assert_eq!(refusal(managed).code(), Code::KeyNotFound);
    let rotated = world.sealpost.rotate_login_secret(made_up.token.as_deref(), Ok(String::new()));
    assert_eq!(refusal(rotated).code(), Code::Unauthorized);
}

#[test]
fn an_ended_session_is_refused_before_a_cached_rate_limit() {
    let world = World::new();
    let alice = world.newcomer(None);
    let other = world.log_in_again(&alice);
    for who in [&alice, &other] {
        while code(world.sealpost.status(who, &Ok(())).result) != Some(Code::RateLimitExceeded) {}
    }
    world.sealpost.logout(alice.token.as_deref(), Ok(Scope::Account)).unwrap();
    for who in [&alice, &other] {
        assert_eq!(every_answer(&world, who), [Code::Unauthorized; 7]);
    }
}

#[test]
fn a_revoked_key_is_refused_before_a_cached_rate_limit() {
    let world = World::new();
    let alice = world.newcomer(None);
    while code(world.sealpost.status(&alice, &Ok(())).result) != Some(Code::RateLimitExceeded) {}
    let owner = world.sealpost.owner(alice.token.as_deref().unwrap()).unwrap();
    owner.revoke(&id(&alice)).unwrap();
    assert_eq!(every_answer(&world, &alice), [Code::KeyInactive; 7]);
}

/// Sends a faulty body to every use case of a key except sends, and returns the error codes. Only an admitted caller
/// gets the error about the body.
fn every_answer(world: &World, who: &Credentials) -> [Code; 7] {
    let sealpost = &world.sealpost;
    let fault = || Refusal::InvalidJson;
    [
        code(sealpost.status(who, &Err(fault())).result),
        code(sealpost.open(who, &Err(fault())).result),
        code(sealpost.manage(who, &Err(fault())).result),
        code(sealpost.register(who, &Err(fault())).result),
        code(sealpost.issue_badge(who, &Err(fault())).result),
        code(sealpost.verify_badge(who, &Err(fault())).result),
        code(sealpost.validate(who, &Err(fault())).result),
    ]
    .map(Option::unwrap)
}

fn code<T>(result: Result<T, Error>) -> Option<Code> {
    result.err().map(|error| error.refusal().expect("a refusal").code())
}

const UNKNOWN_KEY: &str = "ak_01h455vb4pex5vsknk084sn02q";
