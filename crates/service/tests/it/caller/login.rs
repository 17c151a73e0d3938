//! Tests that a login fails if the login secret is replaced during the login.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use sealpost_domain::Code;
use sealpost_service::{Login, Scope, Settings};

use crate::{
    client::Client,
    support::{World, announcing, refusal},
};

/// Logs in with the old secret. During this login, the owner replaces the secret and ends all sessions.
#[test]
fn a_login_during_a_rotation_of_its_secret_begins_no_session() {
    for world in World::on_both(&Settings::default()) {
        log_in_during_a_rotation(world);
    }
}

fn log_in_during_a_rotation(world: World) {
    let activated = world.activate(None, None).unwrap();
    let account_id = activated.account_id.to_string();
    let login =
        |login_secret| Login { account_id: account_id.clone(), login_secret, on_dashboard: false };
    let old = activated.login_secret.unwrap();
    let owner = world.sealpost.login(&login(old.clone())).unwrap().session_token;
    let world = Arc::new(world);
    let secret = old.clone();
    let (meanwhile, is_over) = (Arc::clone(&world), AtomicBool::new(false));
    let store = announcing(&world, move || {
        if !is_over.swap(true, Ordering::SeqCst) {
            end_all_sessions(&meanwhile.sealpost, &owner, &secret);
        }
    });
    let node = world.node_on(store, Settings::default());
    let refused = refusal(node.login(&login(old)));
    assert_eq!(refused.code(), Code::Unauthorized);
    assert!(refused.to_string().contains("login_secret is wrong"), "{refused}");
}

fn end_all_sessions(sealpost: &Client, token: &str, secret: &str) {
    sealpost.rotate_login_secret(Some(token), Ok(secret.to_owned())).unwrap();
    sealpost.logout(Some(token), Ok(Scope::Account)).unwrap();
}
