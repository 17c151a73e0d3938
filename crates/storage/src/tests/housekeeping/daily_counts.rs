//! Tests that daily counts include each envelope and each successful delivery once.

use std::{fmt::Display, sync::Arc};

use sealpost_domain::{
    ApiKeyId, Envelope, EnvelopeId, Timestamp, Webhook,
    ports::{
        CountedTable, DailyCount,
        Durability::{Durable, Relaxed},
        UncountedRows, WriteSet,
    },
};

use crate::tests::fixture::{Fixture, at, envelope};

on_both!(
    every_envelope_is_counted_once_for_sender_and_recipient,
    succeeded_deliveries_are_counted_once_for_the_key_of_the_webhook,
    a_recent_envelope_is_counted_later,
    counting_respects_its_limit,
    portions_are_counted_together,
    attempts_at_two_webhooks_of_a_key_are_counted_together,
    rows_that_were_read_twice_are_counted_once,
    failed_and_unreadable_attempts_do_not_stop_the_count,
    daily_counts_are_deleted_oldest_first,
    uncounted_rows_are_included_up_to_a_limit,
);

const DAY: i64 = 86_400_000;

/// Stores an envelope from the first API key to the second. `millis` is the time of the send, in milliseconds.
fn sent(db: &Fixture, keys: [&ApiKeyId; 2], millis: i64) {
    let mut envelope: Envelope = envelope(keys[0], keys[1]);
    envelope.meta.id = EnvelopeId::new(at(millis), *b"ten bytes!");
    envelope.meta.timestamp = at(millis);
    db.apply(&WriteSet { envelopes: vec![Arc::new(envelope)], ..WriteSet::default() });
}

fn count(db: &Fixture, before: Timestamp, limit: u32) -> u64 {
    db.count_rows(CountedTable::Envelopes, before, limit)
}

fn days(db: &Fixture, key: &ApiKeyId, since: i64) -> Vec<(i64, u64, u64)> {
    let days = db.read(|reader| reader.daily_counts(key, at(since), 0)).unwrap();
    let day = |DailyCount { day, sent, received, .. }| (day.as_millis() / DAY, sent, received);
    days.into_iter().map(day).collect()
}

fn portions_are_counted_together(db: &Fixture) {
    let (a, b) = (&db.activate().id, &db.activate().id);
    for millis in [1, 2, 3, DAY, DAY + 1] {
        sent(db, [a, b], millis);
    }
    let rows = read_in_portions(db, CountedTable::Envelopes);
    assert_eq!((rows.number, rows.sums()), (5, 4), "two keys on two days");
    assert_eq!(db.write(Relaxed, |tx| tx.count(&rows)).unwrap(), 5);
    assert_eq!(days(db, a, 0), [(0, 3, 0), (1, 2, 0)]);
    assert_eq!(days(db, b, 0), [(0, 0, 3), (1, 0, 2)]);
    assert_eq!(count(db, at(9 * DAY), 99), 0);
}

fn attempts_at_two_webhooks_of_a_key_are_counted_together(db: &Fixture) {
    let key = db.activate().id;
    let to = [db.register(&key), db.register(&key)];
    for (n, millis) in [1, 2, 3, DAY, DAY + 1].into_iter().enumerate() {
        succeeded(db, &to[n % 2], millis);
    }
    let rows = read_in_portions(db, CountedTable::Attempts);
    assert_eq!((rows.number, rows.sums()), (5, 4), "two webhooks on two days");
    assert_eq!(db.write(Relaxed, |tx| tx.count(&rows)).unwrap(), 5);
    let days = db.read(|reader| reader.daily_counts(&key, at(0), 0)).unwrap();
    assert_eq!(days.iter().map(|day| day.delivered).collect::<Vec<_>>(), [3, 2]);
}

/// Reads all uncounted rows, two at a time.
fn read_in_portions(db: &Fixture, table: CountedTable) -> UncountedRows {
    let read = |rows: Option<&UncountedRows>| {
        db.read(|reader| reader.uncounted(table, at(9 * DAY), 2, rows)).unwrap()
    };
    let mut rows = read(None).unwrap();
    while let Some(next) = read(Some(&rows)) {
        rows.add(next);
    }
    rows
}

fn attempted(db: &Fixture, webhook_id: impl Display, outcome: &str, at: i64) {
    db.execute(&format!(
        "INSERT INTO attempts (at, attempt, duration_ms, outcome, webhook_id, envelope_id)
        VALUES ({at}, 1, 1, '{outcome}', '{webhook_id}', 'env_1')"
    ))
    .unwrap();
}

fn succeeded(db: &Fixture, webhook: &Webhook, at: i64) {
    attempted(db, webhook.id, "succeeded", at);
}

fn every_envelope_is_counted_once_for_sender_and_recipient(db: &Fixture) {
    let (a, b) = (&db.activate().id, &db.activate().id);
    sent(db, [a, b], 1);
    sent(db, [a, b], DAY - 1);
    sent(db, [b, b], DAY - 2);
    sent(db, [a, b], DAY);
    assert_eq!(count(db, at(9 * DAY), 99), 4);
    sent(db, [b, a], DAY + 1);
    assert_eq!((count(db, at(9 * DAY), 99), count(db, at(9 * DAY), 99)), (1, 0));
    assert_eq!(days(db, a, 0), [(0, 2, 0), (1, 1, 1)]);
    assert_eq!(days(db, b, 0), [(0, 1, 3), (1, 1, 1)]);
    assert_eq!(days(db, b, 1), [(1, 1, 1)]);
}

fn succeeded_deliveries_are_counted_once_for_the_key_of_the_webhook(db: &Fixture) {
    let key = db.activate().id;
    let (to, deleted) = (db.register(&key), db.register(&key));
    succeeded(db, &to, 1);
    attempted(db, to.id, "failed", 2);
    succeeded(db, &deleted, 3);
    succeeded(db, &to, DAY);
    succeeded(db, &to, 5 * DAY + 1);
    succeeded(db, &to, 4);
    db.write(Durable, |tx| tx.delete_webhook(&key, &deleted.id, at(9))).unwrap();
    let count = |before| db.count_rows(CountedTable::Attempts, at(before), 99);
    assert_eq!(
        (count(5 * DAY), count(5 * DAY)),
        (4, 0),
        "the fifth is too recent and stops the count"
    );
    let delivered = || {
        let days = db.read(|reader| reader.daily_counts(&key, at(0), 0)).unwrap();
        days.iter().map(|day| (day.day.as_millis() / DAY, day.delivered)).collect::<Vec<_>>()
    };
    assert_eq!(delivered(), [(0, 1), (1, 1)]);
    assert_eq!(count(10 * DAY), 2);
    assert_eq!(delivered(), [(0, 2), (1, 1), (5, 1)]);

    db.execute("DELETE FROM attempts").unwrap();
    succeeded(db, &to, 9 * DAY);
    assert_eq!(count(10 * DAY), 1, "its number is higher than all counted ones");

    succeeded(db, &to, 99 * DAY);
    succeeded(db, &to, 9 * DAY);
    assert_eq!(count(10 * DAY), 2, "the time of a clock far ahead does not stop the count");
}

fn a_recent_envelope_is_counted_later(db: &Fixture) {
    let key = &db.activate().id;
    sent(db, [key, key], 10);
    sent(db, [key, key], 20);
    assert_eq!(count(db, at(10), 99), 0);
    assert_eq!(count(db, at(20), 99), 1);
    assert_eq!(days(db, key, 0), [(0, 1, 1)]);
    assert_eq!(count(db, at(21), 99), 1);
    assert_eq!(days(db, key, 0), [(0, 2, 2)]);
}

fn counting_respects_its_limit(db: &Fixture) {
    let key = &db.activate().id;
    (1..=5).for_each(|millis| sent(db, [key, key], millis));
    assert_eq!([2, 0, 2, 2].map(|limit| count(db, at(9), limit)), [2, 0, 2, 1]);
    assert_eq!(days(db, key, 0), [(0, 5, 5)]);
}

fn rows_that_were_read_twice_are_counted_once(db: &Fixture) {
    let key = &db.activate().id;
    let uncounted =
        || db.read(|reader| reader.uncounted(CountedTable::Envelopes, at(9), 99, None)).unwrap();
    for millis in [1, 2] {
        sent(db, [key, key], millis);
        let rows = uncounted().unwrap();
        let count = || db.write(Relaxed, |tx| tx.count(&rows)).unwrap();
        assert_eq!([count(), count()], [1, 0]);
    }
    assert_eq!(uncounted(), None);
    assert_eq!(days(db, key, 0), [(0, 2, 2)]);
}

fn failed_and_unreadable_attempts_do_not_stop_the_count(db: &Fixture) {
    let key = db.activate().id;
    let webhook = db.register(&key).id;
    for (millis, outcome) in [(1, "failed"), (2, "failed"), (3, "succeeded")] {
        attempted(db, webhook, outcome, millis);
    }
    let count = || db.count_rows(CountedTable::Attempts, at(9), 2);
    assert_eq!([count(), count(), count()], [2, 1, 0]);
    attempted(db, "no id of a webhook", "succeeded", 4);
    assert_eq!([count(), count()], [1, 0]);
    let counted = db.read(|reader| reader.daily_counts(&key, at(0), 0)).unwrap();
    assert_eq!(counted.iter().map(|day| day.delivered).collect::<Vec<_>>(), [1]);
}

fn daily_counts_are_deleted_oldest_first(db: &Fixture) {
    let key = &db.activate().id;
    for day in [3, 1, 2] {
        sent(db, [key, key], day * DAY);
    }
    // Counting follows the ids, which sort by time and not by arrival. So all envelopes are stored before the first is
    // counted.
    assert_eq!(count(db, at(9 * DAY), 99), 3);
    let purge = |before, limit| db.write(Relaxed, |tx| tx.purge_daily_counts(before, limit));
    assert_eq!(purge(at(2 * DAY - 1), 9).unwrap(), 0, "the first day has not ended yet");
    assert_eq!(purge(at(3 * DAY), 1).unwrap(), 1);
    assert_eq!(days(db, key, 0), [(2, 1, 1), (3, 1, 1)]);
    assert_eq!(purge(at(3 * DAY), 9).unwrap(), 1);
    assert_eq!(days(db, key, 0), [(3, 1, 1)]);
}

fn uncounted_rows_are_included_up_to_a_limit(db: &Fixture) {
    let (a, b) = (&db.activate().id, &db.activate().id);
    let (to, other) = (db.register(a), db.register(b));
    sent(db, [a, b], 1);
    succeeded(db, &to, 2);
    assert_eq!(count(db, at(DAY), 99), 1);
    assert_eq!(db.count_rows(CountedTable::Attempts, at(DAY), 99), 1);
    sent(db, [a, b], 3);
    sent(db, [b, a], DAY + 1);
    sent(db, [a, a], DAY + 2);
    for when in [4, DAY, DAY + 1] {
        succeeded(db, &to, when);
        succeeded(db, &other, when);
    }
    let live = |key, since, max| {
        let days = db.read(|reader| reader.daily_counts(key, at(since), max)).unwrap();
        let day = |it: &DailyCount| (it.day.as_millis() / DAY, it.sent, it.received, it.delivered);
        days.iter().map(day).collect::<Vec<_>>()
    };
    assert_eq!(live(a, 0, 99), [(0, 2, 0, 2), (1, 1, 2, 2)]);
    assert_eq!(live(b, 0, 99), [(0, 0, 2, 1), (1, 1, 0, 2)]);
    assert_eq!(live(a, DAY, 99), [(1, 1, 2, 2)]);
    assert_eq!(
        live(a, 0, 1),
        [(0, 1, 0, 1), (1, 1, 1, 1)],
        "the newest uncounted row of each kind"
    );
    assert_eq!(live(a, 0, 0), [(0, 1, 0, 1)]);
}
