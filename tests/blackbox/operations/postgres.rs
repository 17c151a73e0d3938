//! Tests on PostgreSQL databases with publications, other encodings, other roles and other schemas.

use sealpost_testkit::{FsyncMode, Server as Postgres};

use super::{doctor, finds};
use crate::support::{CommandResult, Database, Receiver, binary, run, text, wait_until};

#[test]
fn a_publication_for_all_tables_stops_no_write() {
    let postgres = Postgres::start(FsyncMode::Off).unwrap();
    let database = Database::at(postgres.create_database());
    database.by_hand("CREATE PUBLICATION everything FOR ALL TABLES");
    // A short retention time makes housekeeping add partitions within seconds.
    let (server, receiver) =
        (database.serve_with(&["--commit-timeout=500ms", "--retention=2s"]), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    server.register(&bob, &receiver.url);
    let envelope = text(&server.send(&alice, &bob.key, "published").ok(), "envelope_id");
    assert_eq!(receiver.await_requests(1)[0].id(), envelope);
    assert_eq!(server.open(&bob, &envelope).ok()["message"], "published");
    wait_until("the delivery ends", || database.count("deliveries") == 0);
    wait_until("a partition is added", || {
        database.count("partitions WHERE name LIKE 'envelopes_from_%'") > 0
    });

    database.by_hand("ALTER SYSTEM SET synchronous_standby_names = 'gone'");
    database.by_hand("SELECT pg_reload_conf()");
    wait_until("a commit hangs", || {
        server.activate(&serde_json::json!({"label": "x"})).status != 200
    });
    database.by_hand("ALTER SYSTEM SET synchronous_standby_names = ''");
    database.by_hand("SELECT pg_reload_conf()");
    // Without a send, only a probe write can end the refusal of writes.
    wait_until("a probe write succeeds", || server.readiness().0 == 200);
    server.send(&alice, &bob.key, "after the outage").ok();
    server.stop();
    finds(doctor(&database, &[]), "schema", "ok", "matches this version");
}

#[test]
fn a_published_table_without_a_replica_identity_is_found_and_logged_once() {
    let database = Database::postgres();
    let server = database.serve();
    database.by_hand("ALTER TABLE write_probes REPLICA IDENTITY NOTHING");
    finds(doctor(&database, &[]), "schema", "ok", "matches this version");
    database.by_hand("CREATE PUBLICATION everything FOR ALL TABLES");
    finds(doctor(&database, &[]), "schema", "warn", "REPLICA IDENTITY FULL for write_probes");
    let logged = || server.log().matches("a probe write to the database failed").count();
    for _ in 0..2 {
        // Probes begin five seconds after the last commit, and rest for a second.
        wait_until("a probe write fails", || server.readiness().0 == 503);
        assert_eq!(logged(), 1, "{}", server.log());
    }
    assert!(server.readiness().1.contains("replica identity"), "{}", server.readiness().1);
    database.by_hand("DROP PUBLICATION everything");
    wait_until("a probe write succeeds", || server.readiness().0 == 200);
    assert_eq!(server.log().matches("a probe write to the database succeeded").count(), 1);
    assert_eq!(logged(), 1);
}

#[test]
fn a_database_with_another_encoding_is_refused() {
    let database = Database::postgres();
    for encoding in ["LATIN1", "SQL_ASCII"] {
        let name = name_of(&database);
        let other = format!("{name}_{}", encoding.to_lowercase());
        database.by_hand(&format!(
            "CREATE DATABASE {other} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        ));
        let other = database.moved_to(Some(database.url().replace(&name, &other)));
        let migrate = || binary(&["migrate", "--database-url", other.url()]);
        for command in [other.command(&[]), migrate(), other.admin_command(&["stats"])] {
            let CommandResult { status, stderr, .. } = run(command);
            assert_eq!(status, Some(1), "{stderr}");
            assert!(stderr.contains(encoding) && stderr.contains("ENCODING 'UTF8'"), "{stderr}");
        }
        finds(doctor(&other, &["--migrate"]), "database", "fail", "ENCODING 'UTF8'");
        assert_eq!(other.count("pg_class WHERE relname = 'envelopes'"), 0, "nothing was created");
    }
}

#[test]
fn a_role_without_the_rights_of_housekeeping_is_reported_with_the_statements() {
    let postgres = Postgres::start(FsyncMode::Off).unwrap();
    let database = Database::at(postgres.create_database());
    database.serve().stop();
    database.by_hand(
        "CREATE ROLE app LOGIN;
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app;
         GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO app",
    );
    let app = database.moved_to(Some(as_role(&database, "app")));
    finds(doctor(&app, &[]), "schema", "fail", "GRANT CREATE ON SCHEMA public TO app; ALTER TABLE");
    let server = app.serve();
    let (status, shown) = server.readiness();
    assert_eq!(status, 200, "{shown}");
    let advice = shown.split_once("run ").unwrap().1.trim().to_owned();
    assert!(shown.contains("\nwarning: the role app lacks rights"), "{shown}");
    assert!(advice.contains("ALTER TABLE attempts_newest OWNER TO app"), "{advice}");
    assert!(server.log().contains("GRANT CREATE ON SCHEMA public TO app"), "{}", server.log());
    server.new_identity();

    database.by_hand(&advice);
    assert_eq!(server.readiness(), (200, "ok\n".to_owned()));
    server.stop();
    finds(doctor(&app, &[]), "schema", "ok", "matches this version");
    let server = app.serve_with(&["--retention=2s"]);
    wait_until("a partition is added", || {
        database.count("partitions WHERE name LIKE 'envelopes_from_%'") > 0
    });
    assert!(!server.log().contains("permission denied"), "{}", server.log());
}

/// Since PostgreSQL 15, only the owner of a database may create tables in its schema `public`.
#[test]
fn a_role_that_may_not_create_tables_cannot_migrate_and_gets_the_statement() {
    let postgres = Postgres::start(FsyncMode::Off).unwrap();
    let database = Database::at(postgres.create_database());
    database.by_hand("REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE app LOGIN");
    let app = database.moved_to(Some(as_role(&database, "app")));
    let advice = "run GRANT CREATE ON SCHEMA public TO app";
    finds(doctor(&app, &["--migrate"]), "schema", "fail", advice);
    for command in [binary(&["migrate", "--database-url", app.url()]), app.command(&[])] {
        let CommandResult { status, stderr, .. } = run(command);
        assert_eq!(status, Some(1), "{stderr}");
        assert!(stderr.contains(advice), "{stderr}");
    }
    database.by_hand("GRANT CREATE ON SCHEMA public TO app");
    app.serve().new_identity();
}

#[test]
fn a_database_without_a_usable_schema_is_refused_with_advice() {
    let postgres = Postgres::start(FsyncMode::Off).unwrap();
    let database = Database::at(postgres.create_database());
    database.by_hand("DROP SCHEMA public; CREATE ROLE \"an app\" LOGIN");
    let app = database.moved_to(Some(as_role(&database, "an%20app")));
    let refused = || {
        let CommandResult { status, stderr, .. } =
            run(binary(&["migrate", "--database-url", app.url()]));
        assert_eq!(status, Some(1), "{stderr}");
        assert!(stderr.contains("CREATE SCHEMA public AUTHORIZATION \"an app\""), "{stderr}");
        assert!(stderr.contains("search_path"), "{stderr}");
    };
    refused();
    finds(doctor(&app, &["--migrate"]), "database", "fail", "CREATE SCHEMA public");
    database.by_hand("CREATE SCHEMA public");
    refused();
    database.by_hand("DROP SCHEMA public; CREATE SCHEMA public AUTHORIZATION \"an app\"");
    app.serve().new_identity();
}

#[test]
fn white_space_around_a_database_url_is_ignored() {
    let database = Database::empty_postgres();
    let padded = format!("\u{feff}{}\r\n", database.url());
    let mut variable = binary(&["migrate"]);
    variable.env("SEALPOST_DATABASE_URL", &padded);
    for command in [binary(&["migrate", "--database-url", &padded]), variable] {
        let CommandResult { status, stderr, .. } = run(command);
        assert_eq!((status, &*stderr), (Some(0), ""));
    }
    for wrong in ["postgres://h/a%0A", "postgres://h/a\nb", "postgres://h/a\tb"] {
        let CommandResult { status, stderr, .. } =
            run(binary(&["migrate", "--database-url", wrong]));
        assert_eq!(status, Some(2), "{stderr}");
        assert!(stderr.contains("control character"), "{stderr}");
    }
}

/// Returns the name of the database in the URL.
fn name_of(database: &Database) -> String {
    let place = database.url().split('?').next().unwrap();
    place.rsplit('/').next().unwrap().to_owned()
}

/// Returns the URL of the database for another role.
fn as_role(database: &Database, role: &str) -> String {
    database.url().replace("user=postgres", &format!("user={role}"))
}
