//! Tests of deliveries that wait for a relay, and of the connections of relays.

use std::{
    collections::{HashMap, HashSet},
    slice, thread,
};

use diesel::connection::SimpleConnection as _;
use sealpost_domain::{
    ApiKey, KeyStatus, LeaseToken, LeasedDelivery, OwnEventId, Session, TokenHash, Webhook,
    WebhookId,
    ports::{
        Durability, OpenRelay, Outbox, RelayConnection, RelayConnectionId, RelayEnd, WriteSet,
    },
};

use crate::{
    Transaction,
    connection::AnyConnection,
    queue::statements,
    rows::delivery::DeliveryKey,
    tests::fixture::{Fixture, at, claim_of, open_session, postgres, sqlite},
};

on_both!(
    a_waiting_delivery_is_claimed_only_for_its_relay,
    the_oldest_waiting_events_come_first,
    waiting_events_of_all_kinds_have_one_order,
    a_claim_returns_the_oldest_events_first,
    only_the_holder_of_a_lease_lets_a_delivery_wait,
    arrivals_are_found_by_their_time,
    webhooks_with_waiting_deliveries_are_found_in_pages,
    a_delivery_leaves_a_relay_that_has_another_url,
    a_delivery_to_a_deleted_relay_is_left_to_the_claims,
    a_start_keeps_deliveries_waiting,
    connections_count_until_their_node_expires,
    a_full_webhook_gets_no_further_connection,
    a_connection_ends_with_what_it_needs,
    an_unchanged_connection_is_not_checked_again,
    a_connection_during_a_change_ends,
    a_change_during_a_connection_ends_it,
    the_old_connections_of_a_node_are_listed,
    connections_from_before_the_clock_was_set_back_do_not_count,
);

fn relay(db: &Fixture, key: &ApiKey) -> Webhook {
    let webhook = db.register(&key.id);
    db.execute(&format!("UPDATE webhooks SET url = 'relay:' WHERE id = '{}'", webhook.id)).unwrap();
    webhook
}

/// Stores deliveries that wait for a relay.
fn wait(db: &Fixture, to: &Webhook, count: usize) -> Vec<LeasedDelivery> {
    let sent = db.send(to, count);
    db.execute(&format!("UPDATE deliveries SET lease = -1 WHERE webhook_id = '{}'", to.id))
        .unwrap();
    sent
}

fn claim(db: &Fixture, of: &[WebhookId], now: i64, each: usize) -> Vec<LeasedDelivery> {
    let mut claim = claim_of(now, 100, LeaseToken(7));
    claim.per_target_max = each;
    db.claim_relays(of, &claim).unwrap()
}

fn ids(deliveries: &[LeasedDelivery]) -> Vec<String> {
    deliveries.iter().map(|delivery| delivery.event.id().to_string()).collect()
}

fn a_waiting_delivery_is_claimed_only_for_its_relay(db: &Fixture) {
    let (a, b) = (relay(db, &db.activate()), relay(db, &db.activate()));
    let sent = wait(db, &a, 2);
    assert!(db.claim(&claim_of(i64::MAX / 2, 10, LeaseToken(1))).unwrap().is_empty());
    assert!(claim(db, &[b.id], 1000, 10).is_empty());
    assert!(claim(db, &[a.id], 999, 10).is_empty(), "not due yet");
    let claimed = claim(db, &[b.id, a.id], 1000, 10);
    assert_eq!(ids(&claimed), ids(&sent));
    assert_eq!((claimed[0].lease, claimed[0].lease_until), (LeaseToken(7), at(2000)));
    assert_eq!(claimed[0].attempts, 0);
    assert!(claim(db, &[a.id], 1000, 10).is_empty(), "leased");
    assert_eq!(db.claim(&claim_of(2000, 10, LeaseToken(1))).unwrap().len(), 2, "after the lease");
}

fn the_oldest_waiting_events_come_first(db: &Fixture) {
    let (a, b) = (relay(db, &db.activate()), relay(db, &db.activate()));
    let (first, second) = (wait(db, &a, 3), wait(db, &b, 1));
    // An ended connection has returned the first delivery.
    for (delivery, due_at) in first.iter().zip([300, 100, 200]) {
        let id = delivery.event.id();
        db.execute(&format!("UPDATE deliveries SET due_at = {due_at} WHERE envelope_id = '{id}'"))
            .unwrap();
    }
    let claimed: HashSet<_> = ids(&claim(db, &[a.id, b.id], 1000, 2)).into_iter().collect();
    let expected = [&first[0], &first[1], &second[0]].map(|it| it.event.id().to_string());
    assert_eq!(claimed, HashSet::from(expected));
}

fn waiting_events_of_all_kinds_have_one_order(db: &Fixture) {
    let to = relay(db, &db.activate());
    wait(db, &to, 1);
    let (oldest, webhook) = (OwnEventId::new(at(0), [0; 10]), to.id.to_string());
    db.execute(&format!(
        "INSERT INTO deliveries (envelope_id, webhook_id, attempts, due_at, lease)
         VALUES ('{oldest}', '{webhook}', 0, 1000, -1)"
    ))
    .unwrap();
    let find = |conn: &mut AnyConnection| {
        statements::awaiting_relay(conn, slice::from_ref(&webhook), at(1000), 1)
    };
    let found = db.reader().run(find).unwrap();
    assert_eq!(found, [DeliveryKey { webhook_id: webhook, event_id: oldest.to_string() }]);
}

fn a_claim_returns_the_oldest_events_first(db: &Fixture) {
    let to = relay(db, &db.activate());
    let sent = wait(db, &to, 20);
    for (index, delivery) in sent.iter().enumerate() {
        // The due times are in the reverse order of the events, as if an ended connection had returned the deliveries.
        let (due_at, id) = (900 - index, delivery.event.id());
        db.execute(&format!("UPDATE deliveries SET due_at = {due_at} WHERE envelope_id = '{id}'"))
            .unwrap();
    }
    assert_eq!(ids(&claim(db, &[to.id], 1000, 100)), ids(&sent));
}

fn only_the_holder_of_a_lease_lets_a_delivery_wait(db: &Fixture) {
    let to = relay(db, &db.activate());
    let sent = db.send(&to, 1);
    let claimed = db.claim(&claim_of(1000, 10, LeaseToken(3))).unwrap();
    let id = claimed[0].id();
    db.await_relay(&[(id, LeaseToken(4))], at(1500)).unwrap();
    assert!(claim(db, &[to.id], 1500, 10).is_empty());
    db.await_relay(&[(id, LeaseToken(3))], at(1500)).unwrap();
    assert!(claim(db, &[to.id], 1499, 10).is_empty());
    assert_eq!(ids(&claim(db, &[to.id], 1500, 10)), ids(&sent));
}

fn arrivals_are_found_by_their_time(db: &Fixture) {
    let (a, b, c) =
        (relay(db, &db.activate()), relay(db, &db.activate()), db.register(&db.activate().id));
    wait(db, &a, 2);
    wait(db, &b, 1);
    db.send(&c, 1);
    let arrivals = |since, now, limit| db.relay_arrivals(at(since), at(now), limit).unwrap();
    assert_eq!(arrivals(0, 1000, 100), HashSet::from([a.id, b.id]));
    assert_eq!(arrivals(0, 999, 100), HashSet::new());
    assert_eq!(arrivals(1001, 2000, 100), HashSet::new());
    assert_eq!(arrivals(0, 1000, 1).len(), 1);
}

fn webhooks_with_waiting_deliveries_are_found_in_pages(db: &Fixture) {
    let mut relays: Vec<_> = (0..5).map(|_| relay(db, &db.activate())).collect();
    let found = |after, limit| db.relays_waiting(after, limit).unwrap();
    assert_eq!(found(None, 10), []);
    let (_idle, waiting) = relays.split_last_mut().unwrap();
    for to in waiting.iter() {
        wait(db, to, 3);
    }
    db.send(&db.register(&db.activate().id), 1);
    let mut ids: Vec<_> = waiting.iter().map(|to| to.id).collect();
    ids.sort_unstable();
    assert_eq!(found(None, 10), ids);
    assert_eq!([found(None, 3), found(Some(ids[2]), 3)], [ids[..3].to_vec(), ids[3..].to_vec()]);
}

fn a_delivery_leaves_a_relay_that_has_another_url(db: &Fixture) {
    let stays = relay(db, &db.activate());
    wait(db, &stays, 2);
    let mut sent = Vec::new();
    let leaving = [3, 2].map(|count| {
        let leaves = relay(db, &db.activate());
        sent.extend(wait(db, &leaves, count));
        leaves.id
    });
    assert_eq!(db.leave_relays(100).unwrap(), 0);
    for id in leaving {
        let url = "https://example.org/";
        db.execute(&format!("UPDATE webhooks SET url = '{url}' WHERE id = '{id}'")).unwrap();
    }
    let left = [(); 3].map(|()| db.leave_relays(2).unwrap());
    assert_eq!(left, [2, 2, 1], "the limit is for all webhooks together");
    let due = db.claim(&claim_of(1000, 10, LeaseToken(1))).unwrap();
    let left: HashSet<_> = ids(&due).into_iter().collect();
    assert_eq!(left, ids(&sent).into_iter().collect());
}

fn a_delivery_to_a_deleted_relay_is_left_to_the_claims(db: &Fixture) {
    let to = relay(db, &db.activate());
    wait(db, &to, 2);
    db.execute(&format!("DELETE FROM webhooks WHERE id = '{}'", to.id)).unwrap();
    assert_eq!(db.leave_relays(100).unwrap(), 2);
    assert!(db.claim(&claim_of(1000, 10, LeaseToken(1))).unwrap().is_empty());
    assert_eq!(db.count("deliveries"), 0, "the claim deletes them");
    assert_eq!(db.count("waiting_envelopes"), 2, "for another webhook of the recipient");
}

fn a_start_keeps_deliveries_waiting(db: &Fixture) {
    let to = relay(db, &db.activate());
    wait(db, &to, 2);
    db.release_every_lease(at(1000)).unwrap();
    assert_eq!(claim(db, &[to.id], 1000, 10).len(), 2);
}

const NODE: LeaseToken = LeaseToken(11);

fn connection(id: i64, node: LeaseToken, to: &Webhook, token: TokenHash) -> RelayConnection {
    let client_address = Some([192, 0, 2, 1].into());
    let id = RelayConnectionId(id);
    RelayConnection { id, node, webhook_id: to.id, token, connected_at: at(500), client_address }
}

fn connect(db: &Fixture, key: &ApiKey, connection: &RelayConnection, max: u64) -> u64 {
    db.write(Durability::Relaxed, |tx| {
        tx.renew_relays(connection.node, at(500), at(6500))?;
        tx.insert_relay(&key.id, connection, max)
    })
    .unwrap()
}

fn counts(db: &Fixture, of: &[&Webhook], now: i64) -> HashMap<WebhookId, u64> {
    let ids: Vec<_> = of.iter().map(|webhook| webhook.id).collect();
    db.read(|reader| reader.count_relays(&ids, at(now))).unwrap()
}

fn connections_count_until_their_node_expires(db: &Fixture) {
    let key = db.activate();
    let (a, b) = (relay(db, &key), relay(db, &key));
    let token = TokenHash([1; 32]);
    for (id, node, to) in [(1, NODE, &a), (2, NODE, &a), (3, LeaseToken(12), &a), (4, NODE, &b)] {
        connect(db, &key, &connection(id, node, to, token), 10);
    }
    assert_eq!(counts(db, &[&a, &b], 1000), HashMap::from([(a.id, 3), (b.id, 1)]));
    assert_eq!(counts(db, &[&a], 1000), HashMap::from([(a.id, 3)]));
    let shown = db.read(|reader| reader.relays_of(&b.id, at(1000))).unwrap();
    let client_address = Some("192.0.2.1".to_owned());
    assert_eq!(
        shown,
        [OpenRelay { id: RelayConnectionId(4), connected_at: at(500), client_address }]
    );
    assert_eq!(counts(db, &[&a, &b], 6500), HashMap::new());
    let renew =
        |node| db.write(Durability::Relaxed, |tx| tx.renew_relays(node, at(6501), at(9000)));
    assert!(renew(NODE).unwrap());
    assert_eq!(counts(db, &[&a, &b], 6501), HashMap::from([(a.id, 2), (b.id, 1)]));
    assert_eq!(db.count("relay_connections"), 3, "those of the dead node are deleted");
    assert!(!renew(LeaseToken(12)).unwrap(), "a node learns that it was taken for dead");
    db.write(Durability::Relaxed, |tx| tx.delete_relay(RelayConnectionId(1))).unwrap();
    assert_eq!(counts(db, &[&a], 6501), HashMap::from([(a.id, 1)]));
}

fn a_full_webhook_gets_no_further_connection(db: &Fixture) {
    let key = db.activate();
    let to = relay(db, &key);
    let token = TokenHash([1; 32]);
    let others = [1, 2, 3].map(|id| connect(db, &key, &connection(id, NODE, &to, token), 2));
    assert_eq!((others, counts(db, &[&to], 1000)[&to.id]), ([0, 1, 2], 2));
}

fn session_of(db: &Fixture, key: &ApiKey) -> TokenHash {
    let token = TokenHash([1; 32]);
    let session = Session { token, account_id: key.account_id, expires_at: at(5000) };
    db.write(Durability::Relaxed, |tx| open_session(tx, &session)).unwrap();
    token
}

/// Creates a key with a session and a relay, and returns a connection to this relay.
fn with_session(db: &Fixture) -> (ApiKey, Webhook, RelayConnection) {
    let key = db.activate();
    let to = relay(db, &key);
    let connection = connection(1, NODE, &to, session_of(db, &key));
    (key, to, connection)
}

/// Checks the connections of [`NODE`] if any are unchecked, and returns the reasons why connections must close.
fn ends(db: &Fixture, now: i64) -> Vec<RelayEnd> {
    if !db.read(|reader| reader.has_unchecked_relays(NODE, at(now))).unwrap() {
        return Vec::new();
    }
    let ended = db.write(Durability::Relaxed, |tx| tx.check_relays(NODE, at(now))).unwrap();
    ended.into_iter().map(|(_, end)| end).collect()
}

fn a_connection_ends_with_what_it_needs(db: &Fixture) {
    let (key, _, connection) = with_session(db);
    connect(db, &key, &connection, 10);
    assert_eq!(ends(db, 1000), []);
    assert_eq!(ends(db, 5000), [RelayEnd::TokenEnded]);
    assert_eq!(ends(db, 5000), [RelayEnd::TokenEnded], "until the connection is deleted");
    for (change, back, end) in [
        ("webhooks SET paused = true", "webhooks SET paused = false", RelayEnd::WebhookPaused),
        (
            "webhooks SET status = 'disabled'",
            "webhooks SET status = 'enabled'",
            RelayEnd::WebhookDisabled,
        ),
        (
            "webhooks SET url = 'https://example.org/'",
            "webhooks SET url = 'relay:'",
            RelayEnd::UrlChanged,
        ),
        (
            "api_keys SET status = 'deactivated'",
            "api_keys SET status = 'active'",
            RelayEnd::KeyInactive,
        ),
        ("sessions SET expires_at = 1000", "sessions SET expires_at = 5000", RelayEnd::TokenEnded),
    ] {
        let set = |change| db.execute(&format!("UPDATE {change}")).unwrap();
        set(change);
        assert_eq!(ends(db, 1000), [end]);
        set(back);
        assert_eq!(ends(db, 1000), []);
    }
    db.execute("DELETE FROM sessions").unwrap();
    assert_eq!(ends(db, 1000), [RelayEnd::TokenEnded]);
    db.execute("DELETE FROM webhooks").unwrap();
    assert_eq!(ends(db, 1000), [RelayEnd::WebhookDeleted]);
}

fn an_unchanged_connection_is_not_checked_again(db: &Fixture) {
    let ((key, _, connection), other) = (with_session(db), relay(db, &db.activate()));
    connect(db, &key, &connection, 10);
    let is_unchecked = |node, now| {
        db.read(|reader| reader.has_unchecked_relays(LeaseToken(node), at(now))).unwrap()
    };
    assert_eq!([is_unchecked(11, 1000), is_unchecked(12, 1000)], [true, false]);
    assert_eq!(ends(db, 1000), []);
    db.execute(&format!("UPDATE webhooks SET paused = true WHERE id = '{}'", other.id)).unwrap();
    db.execute("UPDATE sessions SET last_used_at = 1").unwrap();
    assert_eq!([is_unchecked(11, 4999), is_unchecked(11, 5000)], [false, true]);
}

/// The changes that end a connection, of the key, the webhook and the token.
const CHANGES: [fn(&mut Transaction, &ApiKey, &Webhook, TokenHash); 3] = [
    |tx, key, _, _| {
        tx.lock_key(&key.id).unwrap();
        tx.set_status(&key.id, KeyStatus::Deactivated).unwrap();
    },
    |tx, _, to, _| tx.disable_webhook(&to.id, at(600)).unwrap(),
    |tx, _, _, token| tx.delete_session(&token).unwrap(),
];

fn a_connection_during_a_change_ends(db: &Fixture) {
    for change in CHANGES {
        let (key, to, connection) = with_session(db);
        thread::scope(|scope| {
            let mut tx = db.begin(Durability::Durable).unwrap();
            change(&mut tx, &key, &to, connection.token);
            let connected = scope.spawn(|| connect(db, &key, &connection, 10));
            db.await_waiting();
            tx.commit().unwrap();
            assert_eq!(connected.join().unwrap(), 0);
        });
        assert_eq!(ends(db, 1000).len(), 1);
        clear(db);
    }
}

fn a_change_during_a_connection_ends_it(db: &Fixture) {
    for change in CHANGES {
        let (key, to, connection) = with_session(db);
        thread::scope(|scope| {
            let mut tx = db.begin(Durability::Durable).unwrap();
            tx.insert_relay(&key.id, &connection, 10).unwrap();
            let changed = scope.spawn(|| {
                let mut tx = db.begin(Durability::Durable).unwrap();
                change(&mut tx, &key, &to, connection.token);
                tx.commit().unwrap();
            });
            db.await_waiting();
            tx.commit().unwrap();
            changed.join().unwrap();
        });
        assert_eq!(ends(db, 1000).len(), 1);
        clear(db);
    }
}

fn clear(db: &Fixture) {
    db.execute("DELETE FROM relay_connections").unwrap();
    db.execute("DELETE FROM sessions").unwrap();
}

/// A check leaves a connection alone while another transaction changes it, and does not wait for the transaction.
#[test]
fn a_change_during_a_check_is_not_lost() {
    let db = postgres();
    let (key, to, connection) = with_session(&db);
    connect(&db, &key, &connection, 10);
    let mut tx = db.begin(Durability::Durable).unwrap();
    tx.disable_webhook(&to.id, at(600)).unwrap();
    tx.run(|conn| Ok(conn.batch_execute("SET CONSTRAINTS ALL IMMEDIATE")?)).unwrap();
    assert_eq!(ends(&db, 1000), []);
    tx.commit().unwrap();
    assert_eq!(ends(&db, 1000), [RelayEnd::WebhookDisabled]);
}

#[test]
fn a_write_set_stores_deliveries_that_wait_for_a_relay() {
    let db = sqlite();
    let to = relay(&db, &db.activate());
    let sent = db.send(&to, 1);
    db.execute("DELETE FROM deliveries").unwrap();
    db.apply(&WriteSet { awaiting_relay: sent.clone(), ..WriteSet::default() });
    assert_eq!(ids(&claim(&db, &[to.id], 1000, 10)), ids(&sent));
}

fn the_old_connections_of_a_node_are_listed(db: &Fixture) {
    let key = db.activate();
    let to = relay(db, &key);
    for (id, node) in [(1, NODE), (2, LeaseToken(12))] {
        connect(db, &key, &connection(id, node, &to, TokenHash([1; 32])), 10);
    }
    let before = |time| db.read(|reader| reader.relays_of_node(NODE, at(time))).unwrap();
    assert_eq!((before(500), before(501)), (vec![], vec![RelayConnectionId(1)]));
    let count = |node| db.read(|reader| reader.count_relays_of_node(LeaseToken(node))).unwrap();
    assert_eq!([count(NODE.0), count(12), count(13)], [1, 1, 0]);
}

fn connections_from_before_the_clock_was_set_back_do_not_count(db: &Fixture) {
    let key = db.activate();
    let to = relay(db, &key);
    db.write(Durability::Relaxed, |tx| {
        tx.renew_relays(NODE, at(99_000), at(105_000))?;
        tx.insert_relay(&key.id, &connection(1, NODE, &to, TokenHash([1; 32])), 1)
    })
    .unwrap();
    assert_eq!(counts(db, &[&to], 99_000), HashMap::from([(to.id, 1)]));
    assert_eq!(counts(db, &[&to], 500), HashMap::new());
    let shown = db.read(|reader| reader.relays_of(&to.id, at(500))).unwrap();
    assert_eq!(shown, []);
    let other = connection(2, LeaseToken(12), &to, TokenHash([1; 32]));
    assert_eq!(connect(db, &key, &other, 1), 0);
    assert_eq!(db.count("relay_connections"), 1, "those of the earlier node are deleted");
}
