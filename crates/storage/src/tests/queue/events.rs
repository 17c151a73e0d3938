//! Tests of events that have their own row (all except received envelopes): stored, delivered, logged, delivered again,
//! deleted.

use diesel::{dsl::sql, prelude::*, sql_types::Text};
use sealpost_domain::{
    ApiKeyId, AttemptFailure, BounceReason, DeliveryId, EnvelopeBounced, EnvelopeId, Event,
    EventDetails, EventId, EventKind, EventsVersion, LeaseToken, LeasedDelivery, NewEvent, Outcome,
    OwnEventId,
    ports::{Durability::Durable, Durability::Relaxed, Outbox},
};

use crate::tests::fixture::{FAILING_MAX, Fixture, at, claim_of, fresh, postgres, result_of};

on_both!(
    an_event_goes_to_the_subscribed_webhooks_of_its_key,
    an_event_without_a_subscribed_webhook_is_not_stored,
    a_stored_event_is_retried_logged_and_sent_again,
    an_event_is_sent_again_only_to_subscribed_webhooks_of_its_key,
    an_event_waits_while_its_webhook_is_disabled,
    pending_events_of_all_kinds_are_listed_newest_first,
    old_events_are_deleted_with_their_deliveries,
    a_delivery_of_a_deleted_event_is_deleted,
    an_event_of_an_unknown_kind_is_delivered,
);

const BOUNCED: &[EventKind] = &[EventKind::EnvelopeBounced];
const RECEIVED: &[EventKind] = &[EventKind::EnvelopeReceived];
const FAILURE: AttemptFailure = AttemptFailure::HttpStatus(500);

fn event_at(millis: i64, key: &ApiKeyId) -> NewEvent {
    let envelope_id = fresh(EnvelopeId::new);
    let [.., a, b] = *envelope_id.as_bytes();
    NewEvent {
        id: OwnEventId::new(at(millis), [a, b, 1, 1, 1, 1, 1, 1, 1, 1]),
        api_key_id: *key,
        created_at: at(millis),
        details: EventDetails::EnvelopeBounced(EnvelopeBounced {
            envelope_id,
            recipient: *key,
            reason: BounceReason::Exhausted,
        }),
    }
}

fn store(db: &Fixture, events: &[NewEvent]) {
    db.write(Durable, |tx| tx.insert_events(events)).unwrap();
}

fn claim(db: &Fixture, now: i64) -> Vec<LeasedDelivery> {
    db.claim(&claim_of(now, 100, LeaseToken(now))).unwrap()
}

/// A crash must not lose an event that was sent, because its cause would create another event with another id.
#[test]
fn a_relaxed_transaction_that_stores_an_event_waits_for_the_disk() {
    let db = postgres();
    let key = db.activate().id;
    let setting = |event: NewEvent| {
        let mut transaction = db.begin(Relaxed).unwrap();
        transaction.insert_events(&[event]).unwrap();
        let setting = sql::<Text>("current_setting('synchronous_commit')");
        transaction.run(|conn| Ok(diesel::select(setting).get_result::<String>(conn)?)).unwrap()
    };
    assert_eq!(setting(event_at(5, &key)), "off", "no webhook subscribes to the event");
    db.register_for(&key, BOUNCED);
    assert_eq!(setting(event_at(5, &key)), "on");
}

fn an_event_goes_to_the_subscribed_webhooks_of_its_key(db: &Fixture) {
    let (key, other) = (db.activate().id, db.activate().id);
    let both = &[EventKind::EnvelopeBounced, EventKind::EnvelopeReceived];
    let mut wanted = [db.register_for(&key, BOUNCED).id, db.register_for(&key, both).id];
    db.register_for(&key, RECEIVED);
    db.register_for(&other, BOUNCED);
    let event = event_at(5, &key);
    store(db, std::slice::from_ref(&event));
    let mut held = claim(db, 5);
    held.sort_by_key(LeasedDelivery::id);
    wanted.sort();
    assert_eq!(held.iter().map(|it| it.target.webhook_id).collect::<Vec<_>>(), wanted);
    let body = serde_json::to_string(&event.body()).unwrap();
    for delivery in &held {
        assert!(matches!(delivery.event, Event::Stored(_)));
        assert_eq!(delivery.event.id(), EventId::Own(event.id));
        assert_eq!(delivery.event.timestamp(), event.created_at);
        assert_eq!(
            String::from_utf8(delivery.event.body(EventsVersion::V1_1).unwrap()).unwrap(),
            body
        );
    }
    assert_eq!(db.count("events"), 1);
}

fn an_event_without_a_subscribed_webhook_is_not_stored(db: &Fixture) {
    let key = db.activate().id;
    db.register_for(&key, RECEIVED);
    store(db, &[event_at(5, &key)]);
    assert_eq!((db.count("events"), db.count("deliveries")), (0, 0));
}

fn a_stored_event_is_retried_logged_and_sent_again(db: &Fixture) {
    let key = db.activate().id;
    let to = db.register_for(&key, BOUNCED);
    let event = event_at(5, &key);
    store(db, std::slice::from_ref(&event));
    let held = claim(db, 10);
    let retry = Outcome::Retry { failure: FAILURE, due_at: at(60) };
    db.record_outcomes(&[result_of(&held[0], 11, retry)], FAILING_MAX).unwrap();
    let pending = db.read(|reader| reader.pending_deliveries(&to.id, at(0), None, 9)).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!((pending[0].event_id, pending[0].event_at), (event.id.into(), at(5)));
    assert!(claim(db, 59).is_empty());
    let held = claim(db, 60);
    assert_eq!(held[0].attempts, 1);
    db.record_outcomes(&[result_of(&held[0], 61, Outcome::Exhausted(FAILURE))], FAILING_MAX)
        .unwrap();
    let sources = db.read(|reader| reader.event_sources(&[event.id.into()])).unwrap();
    let source = sources[&event.id.into()];
    assert_eq!((source.kind, source.sender), (EventKind::EnvelopeBounced, None));
    let attempts = db.read(|reader| reader.attempts(&to.id, None, None, 9)).unwrap();
    assert_eq!(attempts.iter().map(|it| it.event_id).collect::<Vec<_>>(), [event.id.into(); 2]);
    let id = DeliveryId { event_id: event.id.into(), webhook_id: to.id };
    assert!(db.write(Durable, |tx| tx.redeliver(&id, &key, at(70))).unwrap());
    let held = claim(db, 70);
    assert_eq!(held[0].id(), id);
    db.record_outcomes(&[result_of(&held[0], 71, Outcome::Succeeded)], FAILING_MAX).unwrap();
    assert_eq!((db.count("deliveries"), db.count("events")), (0, 1));
    assert!(db.write(Durable, |tx| tx.redeliver(&id, &key, at(80))).unwrap());
    assert_eq!(claim(db, 80).len(), 1, "a delivered event can be sent again");
    assert_eq!(db.count("envelope_outcomes"), 0, "the event is no envelope");
}

fn an_event_is_sent_again_only_to_subscribed_webhooks_of_its_key(db: &Fixture) {
    let (key, other) = (db.activate().id, db.activate().id);
    let (subscribed, unsubscribed) = (db.register_for(&key, BOUNCED), db.register(&key));
    let event = event_at(5, &key);
    store(db, std::slice::from_ref(&event));
    let envelope = db.send(&unsubscribed, 1).remove(0).event.id();
    let redeliver = |event_id: EventId, webhook_id, key: &ApiKeyId| {
        let id = DeliveryId { event_id, webhook_id };
        db.write(Durable, |tx| tx.redeliver(&id, key, at(9))).unwrap()
    };
    assert!(redeliver(event.id.into(), subscribed.id, &key));
    assert!(!redeliver(event.id.into(), subscribed.id, &other));
    assert!(!redeliver(event.id.into(), unsubscribed.id, &key));
    assert!(redeliver(envelope, unsubscribed.id, &key));
    assert!(!redeliver(envelope, subscribed.id, &key));
    assert!(!redeliver(event_at(5, &key).id.into(), subscribed.id, &key), "not stored");
}

fn an_event_waits_while_its_webhook_is_disabled(db: &Fixture) {
    let key = db.activate().id;
    let to = db.register_for(&key, BOUNCED);
    db.execute("UPDATE webhooks SET status = 'disabled'").unwrap();
    store(db, &[event_at(5, &key)]);
    assert!(claim(db, 5).is_empty());
    assert!(claim(db, 6).is_empty());
    assert_eq!(db.count("deliveries WHERE due_at > 6 AND lease IS NULL"), 1);
    db.write(Durable, |tx| {
        tx.enable_webhook(&to.id)?;
        tx.expedite_deliveries(&to.id, at(0), at(7), 9)
    })
    .unwrap();
    assert_eq!(claim(db, 7).len(), 1);
}

fn pending_events_of_all_kinds_are_listed_newest_first(db: &Fixture) {
    let key = db.activate().id;
    let to = db.register_for(&key, &EventKind::ALL);
    let first = db.send(&to, 1).remove(0).event.id();
    let second = event_at(1 << 40, &key);
    store(db, std::slice::from_ref(&second));
    let page = |below: Option<EventId>| {
        let listed =
            db.read(|reader| reader.pending_deliveries(&to.id, at(0), below.as_ref(), 1)).unwrap();
        listed.first().map(|it| it.event_id)
    };
    let second = second.id.into();
    assert_eq!(
        (page(None), page(Some(second)), page(Some(first))),
        (Some(second), Some(first), None)
    );
}

fn old_events_are_deleted_with_their_deliveries(db: &Fixture) {
    let key = db.activate().id;
    db.register_for(&key, BOUNCED);
    store(db, &[8, 9, 10, 11].map(|millis| event_at(millis, &key)));
    let purge = |before, limit| db.write(Relaxed, |tx| tx.purge_events(at(before), limit)).unwrap();
    assert_eq!((purge(8, 9), purge(10, 0)), (0, 0));
    assert_eq!((purge(10, 1), purge(10, 9), purge(10, 9)), (1, 1, 0));
    assert_eq!((db.count("events"), db.count("deliveries")), (2, 2));
    assert_eq!(db.count("events WHERE created_at < 10"), 0);
}

fn a_delivery_of_a_deleted_event_is_deleted(db: &Fixture) {
    let key = db.activate().id;
    db.register_for(&key, BOUNCED);
    store(db, &[event_at(5, &key)]);
    db.execute("DELETE FROM events").unwrap();
    assert!(claim(db, 9).is_empty());
    assert_eq!(db.count("deliveries"), 0);
}

/// A newer version of the server may store events of kinds that this version does not know.
fn an_event_of_an_unknown_kind_is_delivered(db: &Fixture) {
    let key = db.activate().id;
    let to = db.register_for(&key, BOUNCED);
    store(db, &[event_at(5, &key)]);
    db.execute("UPDATE events SET kind = 'moon.rose', body = '{\"event\":\"moon.rose\"}'").unwrap();
    db.execute("UPDATE webhooks SET events = 'envelope.bounced,moon.rose'").unwrap();
    assert_eq!(
        claim(db, 9)[0].event.body(EventsVersion::V1_1).unwrap(),
        b"{\"event\":\"moon.rose\"}"
    );
    let listed = db.read(|reader| reader.list_webhooks(&key)).unwrap();
    assert_eq!((listed[0].id, &*listed[0].events), (to.id, BOUNCED));
}
