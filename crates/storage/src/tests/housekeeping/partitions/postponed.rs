//! Tests the metric that counts postponed changes of partitions.

use std::sync::atomic::{AtomicU64, Ordering};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use super::*;

#[test]
fn a_postponed_drop_is_counted_by_its_reason() {
    let (db, start) = extended();
    let to = receiver(&db, &db.activate());
    send(&db, &to, start);
    let counts = Counts::default();
    metrics::with_local_recorder(&counts, || {
        purge(&db, start.plus(HOUR));
        assert_eq!(counts.of("lock"), 0);
        assert!(counts.of("rows") > 0, "the envelope is not in the daily counts");
        count(&db);
        let mut dump = raw(&db);
        dump.batch_execute("BEGIN; SELECT count(*) FROM envelopes").unwrap();
        purge(&db, start.plus(HOUR));
        assert!(counts.of("lock") > 0);
    });
}

#[test]
fn a_newest_partition_with_rows_of_a_clock_ahead_has_an_autovacuum() {
    let db = postgres();
    let start = start(&db);
    let to = receiver(&db, &db.activate());
    send(&db, &to, start.plus(HOUR * 2));
    let options = "coalesce(array_to_string(reloptions, ' '), '-')
                   FROM pg_class WHERE relname = 'envelopes_newest'";
    let extend = || partitions::extend(&mut raw(&db), &ENVELOPES, start, HOUR).unwrap();
    assert_eq!(db.texts(options), ["autovacuum_enabled=false"]);
    let counts = Counts::default();
    assert!(!metrics::with_local_recorder(&counts, extend));
    assert_eq!((counts.of("rows"), counts.of("lock")), (1, 0));
    assert_eq!((db.texts(options), partitions_of(&db, "envelopes")), (vec!["-".to_owned()], 2));
    // The partition gets a bound as soon as the row has expired. It is then dropped as a whole again.
    purge(&db, start.plus(HOUR * 3));
    assert!(extend());
    assert_eq!(db.texts(options), ["autovacuum_enabled=false"]);
}

/// A recorder of metrics that counts postponed changes of partitions by their reason.
#[derive(Default)]
struct Counts {
    lock: Arc<AtomicU64>,
    rows: Arc<AtomicU64>,
}

impl Counts {
    fn of(&self, reason: &str) -> u64 {
        let count = if reason == "lock" { &self.lock } else { &self.rows };
        count.load(Ordering::Relaxed)
    }
}

impl Recorder for Counts {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        if key.name() != "sealpost_partition_changes_postponed_total" {
            return Counter::noop();
        }
        let reason = key.labels().find(|label| label.key() == "reason").unwrap();
        let count = if reason.value() == "lock" { &self.lock } else { &self.rows };
        Counter::from_arc(Arc::clone(count))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
