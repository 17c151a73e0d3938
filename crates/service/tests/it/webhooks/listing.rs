//! Tests that a request that lists webhooks or deliveries takes only one write transaction.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use sealpost_service::{Deliveries, Settings, WebhookList};

use crate::client::{Manage, Managed};
use crate::support::{World, announcing, key_of};

#[tokio::test]
async fn a_listing_needs_one_write_transaction_for_its_admission() {
    let world = World::new();
    let bob = world.newcomer(None);
    let webhook_id = world.register(&bob).webhook_id.to_string();
    world.sealpost.send_hello(&bob, &key_of(&bob)).await.unwrap();
    let writers = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&writers);
    let store = announcing(&world, move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let node = world.node_on(store, Settings::default());
    let deliveries = Deliveries { webhook_id, state: None, limit: 20, cursor: None };
    for asked in [Manage::List, Manage::Deliveries(deliveries)] {
        let before = writers.load(Ordering::SeqCst);
        match node.manage(&bob, &Ok(asked)).result {
            Ok(Managed::Listed(WebhookList { webhooks })) => assert_eq!(webhooks.len(), 1),
            Ok(Managed::Deliveries(page)) => assert_eq!(page.deliveries.len(), 1),
            _ => panic!("nothing is shown"),
        }
        assert_eq!(writers.load(Ordering::SeqCst), before + 1);
    }
}
