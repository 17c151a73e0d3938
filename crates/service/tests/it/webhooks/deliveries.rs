//! Tests how owners list, repeat and recover the deliveries of their webhooks, on an embedded database.

use std::{collections::BTreeSet, time::Duration};

use sealpost_domain::{
    AttemptFailure, Clock as _, Code, DisabledReason, LeasedDelivery, Outcome, Refusal,
    WebhookStatus,
};
use sealpost_service::{
    Credentials, Cursor, Deliveries, DeliveriesPage, DeliveryState, Enabled, Recover, Recovered,
    Settings, WebhookList,
};

use crate::client::{Manage, Managed};
use crate::support::{World, key_of, refusal};

const DAY: Duration = Duration::from_hours(24);

fn register(world: &World, who: &Credentials) -> String {
    world.register(who).webhook_id.to_string()
}

/// Sends a message of a key to itself. Returns the id of the envelope.
async fn send(world: &World, who: &Credentials) -> String {
    world.clock.advance(Duration::from_mins(1));
    let sent = world.sealpost.send_hello(who, &key_of(who)).await.unwrap();
    sent.message.envelope_id.to_string()
}

fn manage(world: &World, who: &Credentials, asked: Manage) -> Result<Managed, Refusal> {
    world.clock.advance(Duration::from_mins(1));
    match world.sealpost.manage(who, &Ok(asked)).result {
        Ok(managed) => Ok(managed),
        error => Err(refusal(error)),
    }
}

fn page(world: &World, who: &Credentials, asked: &Deliveries) -> DeliveriesPage {
    match manage(world, who, Manage::Deliveries(asked.clone())) {
        Ok(Managed::Deliveries(page)) => page,
        _ => panic!("no page"),
    }
}

fn deliveries(webhook_id: &str, state: Option<&str>) -> Deliveries {
    let state = state.map(|name| DeliveryState::from_name(name).unwrap());
    Deliveries { webhook_id: webhook_id.to_owned(), state, limit: 100, cursor: None }
}

fn enable(world: &World, who: &Credentials, webhook_id: &str) -> Enabled {
    match manage(world, who, Manage::Enable { webhook_id: webhook_id.to_owned() }) {
        Ok(Managed::Enabled(enabled)) => enabled,
        _ => panic!("not enabled"),
    }
}

fn recover(world: &World, who: &Credentials, asked: Recover) -> Recovered {
    match manage(world, who, Manage::Recover(asked)) {
        Ok(Managed::Recovered(recovered)) => recovered,
        _ => panic!("not recovered"),
    }
}

/// Releases all leases, then claims the due deliveries.
fn take_over(world: &World) -> Vec<LeasedDelivery> {
    world.database.release_every_lease(world.clock.now()).unwrap();
    world.claim_due()
}

fn retry(world: &World) -> Outcome {
    let due_at = world.clock.now().plus(DAY);
    Outcome::Retry { failure: AttemptFailure::HttpStatus(500), due_at }
}

const EXHAUSTED: Outcome = Outcome::Exhausted(AttemptFailure::HttpStatus(500));

#[tokio::test]
async fn pages_show_every_entry_once_while_entries_are_added() {
    let world = World::new();
    let bob = world.newcomer(None);
    let webhook_id = register(&world, &bob);
    for outcome in [Outcome::Succeeded, retry(&world), EXHAUSTED, retry(&world)] {
        for _ in 0..2 {
            send(&world, &bob).await;
        }
        let mut held = take_over(&world);
        held.retain(|it| it.attempts == 0);
        world.settle(&held, outcome);
    }
    let whole = page(&world, &bob, &deliveries(&webhook_id, None));
    assert_eq!(whole.next_cursor, None);
    let outcomes: Vec<_> = whole.deliveries.iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes[..4], ["pending"; 4], "what waits comes first");
    assert_eq!(outcomes[4..].len(), 8);
    assert!(whole.deliveries[4..].is_sorted_by(|later, earlier| later.at >= earlier.at));

    let entry = |it: &sealpost_service::DeliveryView| {
        (it.envelope_id.to_string(), it.outcome, it.attempt, it.at)
    };
    let (mut walked, mut asked) =
        (Vec::new(), Deliveries { limit: 3, ..deliveries(&webhook_id, None) });
    loop {
        let page = page(&world, &bob, &asked);
        assert!(page.deliveries.len() <= 3);
        walked.extend(page.deliveries.iter().map(entry));
        send(&world, &bob).await;
        let held: Vec<_> = world.claim_due().into_iter().filter(|it| it.attempts == 0).collect();
        world.settle(&held, Outcome::Succeeded);
        match page.next_cursor {
            Some(cursor) => asked.cursor = Some(cursor.parse().unwrap()),
            None => break,
        }
    }
    assert_eq!(walked, whole.deliveries.iter().map(entry).collect::<Vec<_>>());
    for state in ["pending", "succeeded", "failed", "exhausted"] {
        let some = page(&world, &bob, &deliveries(&webhook_id, Some(state))).deliveries;
        assert!(!some.is_empty() && some.iter().all(|it| it.outcome == state), "{state}");
    }
}

#[tokio::test]
async fn a_cursor_is_valid_only_for_its_own_listing() {
    let world = World::new();
    let bob = world.newcomer(None);
    let [one, other] = [register(&world, &bob), register(&world, &bob)];
    send(&world, &bob).await;
    send(&world, &bob).await;
    let first = page(&world, &bob, &Deliveries { limit: 1, ..deliveries(&one, None) });
    let cursor: Option<Cursor> = Some(first.next_cursor.unwrap().parse().unwrap());
    assert_eq!(
        page(&world, &bob, &Deliveries { cursor, ..deliveries(&one, None) }).deliveries.len(),
        1
    );
    for asked in [deliveries(&other, None), deliveries(&one, Some("pending"))] {
        let refused = manage(&world, &bob, Manage::Deliveries(Deliveries { cursor, ..asked }));
        let refused = refused.err().unwrap();
        assert_eq!((refused.code(), refused.field()), (Code::InvalidField, Some("cursor")));
    }
}

#[tokio::test]
async fn enabling_a_webhook_makes_its_pending_deliveries_due() {
    let world =
        World::with(Settings { recovered_max: 2, rows_per_write: 1, ..Settings::default() });
    let bob = world.newcomer(None);
    let webhook_id = register(&world, &bob);
    let gone = send(&world, &bob).await;
    world.settle(&take_over(&world), Outcome::Gone);
    let mut waiting = BTreeSet::new();
    for _ in 0..5 {
        waiting.insert(send(&world, &bob).await);
    }
    let shown = page(&world, &bob, &deliveries(&webhook_id, Some("pending"))).deliveries;
    assert_eq!(shown.len(), 5);
    assert!(shown.iter().all(|it| it.next_attempt_at.is_none() && it.attempt == 1));
    assert!(world.claim_due().is_empty());
    for refused in [
        Manage::Redeliver { webhook_id: webhook_id.clone(), envelope_id: gone.clone() },
        Manage::Recover(Recover {
            webhook_id: webhook_id.clone(),
            since: world.clock.now(),
            until: None,
            dry_run: false,
        }),
    ] {
        let refused = manage(&world, &bob, refused).err().unwrap();
        assert_eq!((refused.code(), refused.field()), (Code::InvalidField, Some("webhook_id")));
        assert!(refused.to_string().contains("enable it first"), "{refused}");
    }
    let Ok(Managed::Listed(WebhookList { webhooks })) = manage(&world, &bob, Manage::List) else {
        panic!("no list")
    };
    assert_eq!(webhooks[0].disabled_reason, Some(DisabledReason::Gone));

    let enabled = enable(&world, &bob, &webhook_id);
    assert_eq!((enabled.webhook.status, enabled.due_now), (WebhookStatus::Enabled, 5));
    assert_eq!((enabled.webhook.disabled_reason, enabled.webhook.failing_since), (None, None));
    let due: BTreeSet<_> = world.claim_due().iter().map(|it| it.event.id().to_string()).collect();
    assert_eq!(due, waiting, "and what was exhausted is not");
    assert_eq!(enable(&world, &bob, &webhook_id).due_now, 0, "there is no harm in it");
}

#[tokio::test]
async fn failed_deliveries_of_a_time_range_are_counted_and_recovered_in_any_portions() {
    for rows_per_write in [1000, 1, 2] {
        check_recovery(rows_per_write).await;
    }
}

async fn check_recovery(rows_per_write: u32) {
    let world = World::with(Settings { recovered_max: 3, rows_per_write, ..Settings::default() });
    let bob = world.newcomer(None);
    let webhook_id = register(&world, &bob);
    send(&world, &bob).await;
    world.settle(&take_over(&world), EXHAUSTED);
    world.clock.advance(Duration::from_secs(1));
    let since = world.clock.now();
    for _ in 0..4 {
        send(&world, &bob).await;
    }
    let held = take_over(&world);
    world.settle(&held[..2], EXHAUSTED);
    world.settle(&held[2..], retry(&world));
    let asked = |dry_run| Recover { webhook_id: webhook_id.clone(), since, until: None, dry_run };
    let numbers = |it: Recovered| (it.matched, it.recovered, it.more, it.dry_run);
    assert_eq!(numbers(recover(&world, &bob, asked(true))), (3, 0, true, true));
    assert!(world.claim_due().is_empty());
    assert_eq!(numbers(recover(&world, &bob, asked(false))), (3, 3, true, false));
    assert_eq!(numbers(recover(&world, &bob, asked(false))), (1, 1, false, false));
    assert_eq!(world.claim_due().len(), 4);
}

#[tokio::test]
async fn an_envelope_of_another_key_is_not_delivered_again() {
    let world = World::new();
    let (bob, eve) = (world.newcomer(None), world.newcomer(None));
    let (webhook_id, envelope_id) = (register(&world, &eve), send(&world, &bob).await);
    let redeliver = Manage::Redeliver { webhook_id, envelope_id };
    assert_eq!(manage(&world, &eve, redeliver).err(), Some(Refusal::WebhookEventNotFound));
    assert!(world.claim_due().is_empty());
}
