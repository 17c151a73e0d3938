//! Tests of the move of an SQLite database into PostgreSQL.

use std::{collections::BTreeSet, fs, path::Path};

use sealpost_domain::{ports::StoreError, with_causes};

use super::fixture::{self, Fixture};
use crate::{
    DatabaseUrl, MoveSource, MovedRows,
    connection::AnyConnection,
    moving::tables::{LEFT, moved_tables},
};

fn file_of(db: &Fixture) -> &Path {
    let DatabaseUrl::Sqlite(file) = &db.url else { panic!("not SQLite") };
    file
}

fn moved(source: &Fixture, target: &Fixture) -> Result<Vec<MovedRows>, StoreError> {
    target.receive(&MoveSource::open(file_of(source))?, &|_, _| {})
}

/// Returns a database with rows that use every type, NULL, and the largest and smallest values.
fn filled() -> Fixture {
    let db = fixture::sqlite();
    let (alice, bob) = (db.activate(), db.activate());
    let webhook = db.register(&bob.id);
    let sent = db.send(&webhook, 3);
    let (alice, bob, hook) = (alice.id, bob.id, webhook.id);
    db.execute(&format!(
        "INSERT INTO policies VALUES ('{bob}', 'anyone', 'opened', 1, '{alice}', '', 0);
         UPDATE api_keys SET handle = 'bob', label = 'Bob' || char(0) || 'ü' WHERE id = '{bob}';
         UPDATE api_keys SET plan = 'enterprise', enterprise_per_minute = 0, enterprise_per_day = 9223372036854775807,
             enterprise_per_month = 1, enterprise_per_second = 1, enterprise_allow_overage = 1 WHERE id = '{alice}';
         INSERT INTO used_forms VALUES (x'', -9223372036854775808, NULL), (x'00ff', 0, x'');
         INSERT INTO idempotency_keys VALUES ('{alice}', 'a ''b', x'01', '', 1, NULL, '[]');
         INSERT INTO audit_entries VALUES (1, 1, 'a', 'b', 'c', '{{}}', x'', x'01'), (2, 2, 'a', 'b', 'c', '', x'01', x'02');
         INSERT INTO attempts (number, at, attempt, duration_ms, outcome, webhook_id, envelope_id)
             VALUES (41, 1, 1, 1, 'succeeded', '{hook}', '{}'), (7, 2, 1, 1, 'failed', '{hook}', 'x');
         INSERT INTO waiting_envelopes VALUES ('env_waiting', '{alice}');
         INSERT INTO kek_marks VALUES (1, x'0102', NULL)",
        sent[0].event.id()
    ))
    .unwrap();
    db
}

#[test]
fn every_table_is_moved_or_left_with_a_reason() {
    let (source, target) = (fixture::sqlite(), fixture::postgres());
    let own = source.texts("name FROM sqlite_master WHERE type = 'table'");
    let others = target.texts(
        "relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace
         AND relkind IN ('r', 'p') AND NOT relispartition",
    );
    let all: BTreeSet<_> = own.into_iter().chain(others).collect();
    let (AnyConnection::Sqlite(mut lite), AnyConnection::Postgres(mut pg)) =
        (source.raw(), target.raw())
    else {
        panic!("wrong databases")
    };
    let moved = moved_tables(&mut lite, &mut pg).unwrap();
    let left = LEFT.map(|(name, reason)| {
        assert!(!reason.is_empty());
        name.to_owned()
    });
    let known: BTreeSet<_> =
        moved.iter().map(|table| table.name.clone()).chain(left.clone()).collect();
    assert_eq!(known, all, "add new tables to both databases, or to LEFT with a reason");
    assert_eq!(known.len(), moved.len() + left.len(), "a table is moved and left");

    let columns = moved.iter().flat_map(|table| {
        let of_target = target.texts(&format!(
            "attname::text FROM pg_attribute \
            WHERE attrelid = '{}'::regclass AND attnum > 0 AND NOT attisdropped",
            table.name
        ));
        let own: BTreeSet<_> = table.columns.iter().map(|column| column.name.clone()).collect();
        let only_there = of_target.into_iter().filter(move |name| !own.contains(name));
        only_there.map(|name| format!("{}.{name}", table.name))
    });
    let only_in_target: BTreeSet<_> = columns.collect();
    let expected = ["overages.generation", "overages.updates", "usage.generation", "usage.updates"];
    assert_eq!(only_in_target, expected.map(str::to_owned).into(), "their defaults must be right");
}

#[test]
fn rows_of_every_type_arrive() {
    let (source, target) = (filled(), fixture::empty_postgres());
    let moved = moved(&source, &target).unwrap();
    for MovedRows { table, rows } in &moved {
        let count = target.count(&format!("\"{table}\""));
        assert_eq!(
            (u64::try_from(count).unwrap(), count),
            (*rows, source.count(&format!("\"{table}\"")))
        );
    }
    for (query, found) in [
        ("label FROM api_keys WHERE handle = 'bob'", "Bob ü"),
        (
            "enterprise_per_day::text FROM api_keys WHERE enterprise_allow_overage",
            "9223372036854775807",
        ),
        ("listed::text || records_contacts::text FROM policies", "truefalse"),
        (
            "used_at::text FROM used_forms WHERE form = '' AND result IS NULL",
            "-9223372036854775808",
        ),
        ("idempotency_key FROM idempotency_keys WHERE results = '[]' AND state IS NULL", "a 'b"),
        ("encode(sealed, 'hex') FROM envelopes ORDER BY id LIMIT 1", &*{
            source.texts("lower(hex(sealed)) FROM envelopes ORDER BY id LIMIT 1").remove(0)
        }),
    ] {
        assert_eq!(target.texts(query), [found], "{query}");
    }
    let identity = "id FROM database_identity";
    assert_eq!(target.texts(identity), source.texts(identity));
    assert_eq!(target.count("waiting_transfers"), source.count("waiting_transfers"));
    assert_eq!(target.texts("nextval('attempt_numbers')::text"), ["42"]);
    target.check().unwrap();
    assert!(target.pending_migrations().unwrap().is_empty());
}

#[test]
fn the_source_is_only_read_and_its_log_is_moved_too() {
    let running = filled();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("a b%20?#.db");
    let file = file_of(&running);
    let with_log = |path: &Path| {
        let mut name = path.as_os_str().to_owned();
        name.push("-wal");
        name
    };
    fs::copy(file, &copy).unwrap();
    fs::copy(with_log(file), with_log(&copy)).unwrap();
    let bytes = || (fs::read(&copy).unwrap(), fs::read(with_log(&copy)).unwrap());
    let before = bytes();
    assert!(!before.1.is_empty());
    let target = fixture::empty_postgres();
    let source = MoveSource::open(&copy).unwrap();
    target.receive(&source, &|_, _| {}).unwrap();
    assert!(bytes() == before, "the source has changed");
    assert_eq!(target.count("envelopes"), 3);
}

#[test]
fn a_target_with_a_table_is_refused_and_a_failed_move_leaves_none() {
    let (source, used, empty) = (filled(), fixture::postgres(), fixture::empty_postgres());
    let refused = moved(&source, &used).unwrap_err();
    assert!(with_causes(&refused).contains("the target is not empty"), "{refused:?}");
    // A value that the column of the target cannot hold.
    source
        .execute("UPDATE api_keys SET sealing_version = 3000000000 WHERE handle = 'bob'")
        .unwrap();
    let failed = moved(&source, &empty).unwrap_err();
    assert!(with_causes(&failed).contains("out of range"), "{failed:?}");
    let tables = "pg_class WHERE relnamespace = current_schema()::regnamespace";
    assert_eq!(empty.count(tables), 0);
    source.execute("UPDATE api_keys SET sealing_version = 1 WHERE handle = 'bob'").unwrap();
    moved(&source, &empty).unwrap();
}

#[test]
fn numbers_of_deleted_rows_are_not_used_again() {
    let source = filled();
    let next = |target: &Fixture| {
        ["attempt_numbers", "log_statement_ids"]
            .map(|sequence| target.texts(&format!("nextval('{sequence}')::text")).remove(0))
    };
    let last = source.texts("CAST(max(id) AS TEXT) FROM log_statements").remove(0);
    let following = (last.parse::<i64>().unwrap() + 1).to_string();
    source.execute("DELETE FROM attempts; DELETE FROM log_statements").unwrap();
    let target = fixture::empty_postgres();
    moved(&source, &target).unwrap();
    assert_eq!(next(&target), ["42".to_owned(), following]);

    // An earlier move has left a last counted attempt number that is higher than the sequence.
    source.execute("INSERT INTO daily_count_progress VALUES ('attempts', '99')").unwrap();
    let target = fixture::empty_postgres();
    moved(&source, &target).unwrap();
    assert_eq!(next(&target)[0], "100");
}

#[test]
fn rows_that_arrive_changed_are_noticed() {
    let (source, target) = (filled(), fixture::empty_postgres());
    // A trigger of the database changes what is stored, as a fault of the disk or of the driver would.
    target
        .execute(
            "CREATE FUNCTION change() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
                 IF to_regclass('used_forms') IS NOT NULL AND NOT EXISTS (
                     SELECT FROM pg_trigger WHERE tgname = 'change_row') THEN
                     CREATE FUNCTION change_row() RETURNS TRIGGER LANGUAGE plpgsql AS
                         'BEGIN NEW.used_at := NEW.used_at + 1; RETURN NEW; END';
                     CREATE TRIGGER change_row BEFORE INSERT ON used_forms
                         FOR EACH ROW EXECUTE FUNCTION change_row();
                 END IF;
             END $$;
             CREATE EVENT TRIGGER change ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'CREATE INDEX')
                 EXECUTE FUNCTION change()",
        )
        .unwrap();
    let failed = moved(&source, &target).unwrap_err();
    let text = with_causes(&failed);
    assert!(text.contains("table used_forms") && text.contains("nothing was stored"), "{text}");
    assert_eq!(target.count("pg_class WHERE relname = 'accounts'"), 0);
}

#[test]
fn a_source_of_an_older_version_is_refused() {
    let source = fixture::empty_sqlite();
    let refused = MoveSource::open(file_of(&source)).unwrap_err();
    assert!(with_causes(&refused).contains("run `sealpost migrate`"), "{refused:?}");
}
