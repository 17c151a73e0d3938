//! Tests how owners change and enable webhooks: the response, and the pending deliveries of a resumed webhook.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sealpost_domain::{AttemptFailure, Clock as _, Outcome};
use sealpost_service::{Credentials, Settings, Update, WebhookList, WebhookView};

use crate::client::{Client, Manage, Managed};
use crate::support::{World, failing_after, key_of};

fn register(world: &World, who: &Credentials) -> String {
    world.register(who).webhook_id.to_string()
}

/// Sends a message of a key to itself.
async fn send(world: &World, who: &Credentials) {
    world.sealpost.send_hello(who, &key_of(who)).await.unwrap();
}

fn pause(node: &Client, who: &Credentials, webhook_id: &str, paused: bool) -> WebhookView {
    update(node, who, webhook_id, (None, Some(paused)))
}

/// Changes the URL of a webhook, pauses it, or resumes it.
fn update(
    node: &Client,
    who: &Credentials,
    webhook_id: &str,
    (url, paused): (Option<&str>, Option<bool>),
) -> WebhookView {
    let (webhook_id, url) = (webhook_id.to_owned(), url.map(str::to_owned));
    let update = Update { webhook_id, url, events: None, description: None, paused };
    match node.manage(who, &Ok(Manage::Update(update))).result.unwrap() {
        Managed::Updated(updated) => updated.webhook,
        _ => panic!("not updated"),
    }
}

#[tokio::test]
async fn a_repeated_resumption_sends_the_deliveries_that_the_first_one_left() {
    let world = World::new();
    let bob = world.newcomer(None);
    let webhook_id = register(&world, &bob);
    assert!(pause(&world.sealpost, &bob, &webhook_id, true).paused);
    send(&world, &bob).await;
    // Only the transaction that resumes the webhook succeeds.
    let allowed = Arc::new(AtomicUsize::new(1));
    let node = world.node_on(failing_after(&world, &allowed), Settings::default());
    assert!(!pause(&node, &bob, &webhook_id, false).paused);
    assert_eq!(world.claim_due().len(), 0);
    allowed.store(2, Ordering::SeqCst);
    assert!(!pause(&node, &bob, &webhook_id, false).paused);
    assert_eq!(world.claim_due().len(), 1);
}

#[tokio::test]
async fn an_update_shows_the_newest_success_as_the_list_does() {
    let world = World::new();
    let bob = world.newcomer(None);
    let webhook_id = register(&world, &bob);
    for _ in 0..2 {
        send(&world, &bob).await;
        world.clock.advance(Duration::from_mins(1));
        world.database.release_every_lease(world.clock.now()).unwrap();
        let held = world.claim_due();
        assert_eq!(held.len(), 1);
        world.settle(&held, Outcome::Succeeded);
    }
    let updated = pause(&world.sealpost, &bob, &webhook_id, false);
    assert_eq!(updated.last_success_at, Some(world.clock.now()));
    let Managed::Listed(WebhookList { webhooks }) =
        world.sealpost.manage(&bob, &Ok(Manage::List)).result.unwrap()
    else {
        panic!("no list")
    };
    assert_eq!(webhooks[0].last_success_at, updated.last_success_at);
}

/// The service disables a webhook after five days of failures. Failures at an earlier URL do not count, nor does the time
/// of a pause, in which no attempt is made.
#[tokio::test]
async fn a_new_url_and_the_end_of_a_pause_begin_a_new_time_of_failures() {
    let world = World::new();
    let bob = world.newcomer(None);
    let webhook_id = register(&world, &bob);
    let fail = async || {
        send(&world, &bob).await;
        world.database.release_every_lease(world.clock.now()).unwrap();
        world.settle(&world.claim_due(), Outcome::Exhausted(AttemptFailure::Connect));
    };
    fail().await;
    let change = |url: Option<&str>, paused: Option<bool>| {
        update(&world.sealpost, &bob, &webhook_id, (url, paused))
    };
    assert_eq!(change(None, Some(true)).failing_since, Some(world.clock.now()));
    world.clock.advance(Duration::from_mins(1));
    let resumed = change(None, Some(false));
    assert_eq!((resumed.failing_since, resumed.last_failure.is_some()), (None, true));
    fail().await;
    let since = Some(world.clock.now());
    world.clock.advance(Duration::from_mins(1));
    assert_eq!(change(None, Some(false)).failing_since, since, "it was not paused");
    assert_eq!(change(Some("https://bob.example/"), None).failing_since, since, "the same URL");
    assert_eq!(change(Some("https://new.example/"), None).failing_since, None);
}

#[test]
fn an_enabled_relay_shows_its_connections() {
    let world = World::new();
    let bob = world.newcomer(None);
    let webhook_id = world.register_at(&bob, "relay:").webhook_id.to_string();
    let _relay = world.sealpost.open_relay(&bob, &Ok(webhook_id.clone())).result.unwrap();
    match world.sealpost.manage(&bob, &Ok(Manage::Enable { webhook_id })).result.unwrap() {
        Managed::Enabled(enabled) => assert_eq!(enabled.webhook.connected, Some(1)),
        _ => panic!("not enabled"),
    }
}
