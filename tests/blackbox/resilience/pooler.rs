//! Tests of two nodes that reach PostgreSQL through `PgBouncer` in transaction mode, during a rolling restart.

use std::time::Duration;

use sealpost_testkit::{Instance, Pooler};

use crate::support::{Database, Pairs, Receiver, Server, binary, run, text};

/// A PostgreSQL server behind `PgBouncer`.
struct Scene {
    postgres: Instance,
    pooler: Pooler,
    database: Database,
}

impl Scene {
    fn new() -> Self {
        let postgres = Instance::start(&[]).unwrap();
        // Fewer connections than the nodes open, so that the nodes share them.
        let pooler = Pooler::before(&postgres, 6).unwrap();
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", pooler.port());
        Self { postgres, pooler, database: Database::at(url) }
    }

    /// Sets the default settings of the database role as `docs/operating/postgresql.md` requires.
    fn set_defaults(&self) {
        self.postgres.execute(DEFAULTS).unwrap();
        // New connections of the pooler have the defaults.
        self.postgres.execute(OTHERS_END).unwrap();
    }

    fn serve(&self) -> Server {
        self.database.serve_with(&["--database-pooler"])
    }

    /// Returns the report of `sealpost doctor`.
    fn doctor(&self) -> String {
        let mut doctor = binary(&["doctor", "--listen=127.0.0.1:0", "--ops-listen=off"]);
        doctor.args(["--database-pooler", "--database-url", self.database.url(), "--kek-file"]);
        doctor.arg(self.database.kek_file());
        run(doctor).stdout
    }
}

#[test]
fn a_rolling_restart_behind_a_pooler_loses_nothing() {
    let mut scene = Scene::new();
    scene.set_defaults();
    let (first, second) = (scene.serve(), scene.serve());
    let receiver = Receiver::start();
    check_main_job(&first, &second);

    let pairs = Pairs::activate(first.client(), &receiver);
    let second = pairs.send_during(first.client(), || {
        second.stop();
        scene.serve()
    });
    let first = pairs.send_during(second.client(), || {
        first.kill();
        scene.serve()
    });
    check_main_job(&second, &first);
    scene.pooler.restart().unwrap();
    check_main_job(&first, &second);
    pairs.check(first.client(), &receiver, Duration::from_mins(1));
    first.stop();
    second.stop();
}

#[test]
fn doctor_finds_missing_defaults_of_the_role() {
    let scene = Scene::new();
    assert!(scene.doctor().contains("ALTER ROLE"), "{}", scene.doctor());
    scene.set_defaults();
    assert!(!scene.doctor().contains("ALTER ROLE"), "{}", scene.doctor());
}

/// Sends on one node, and opens the delivered envelope on the other.
#[track_caller]
fn check_main_job(sender: &Server, opener: &Server) {
    let receiver = Receiver::start();
    let (alice, bob) = (sender.new_identity(), opener.new_identity());
    let secret = text(&opener.register(&bob, &receiver.url), "secret");
    let sent = sender.send(&alice, &bob.key, "hello").ok();
    let request = receiver.await_requests(1).remove(0);
    request.verify(&secret);
    assert_eq!(request.id(), text(&sent, "envelope_id"));
    assert_eq!(opener.open(&bob, &request.id()).ok()["message"], "hello");
    assert_eq!(sender.status(&alice).ok()["usage"]["month"]["used"], 1);
}

/// The default settings in `docs/operating/postgresql.md`, for the database role of the tests.
const DEFAULTS: &str = "
    ALTER ROLE postgres SET statement_timeout = '10s';
    ALTER ROLE postgres SET lock_timeout = '5s';
    ALTER ROLE postgres SET idle_in_transaction_session_timeout = '30s';
    ALTER ROLE postgres SET synchronous_commit = on;
    ALTER ROLE postgres SET enable_seqscan = off;
    ALTER ROLE postgres SET enable_hashjoin = off;
    ALTER ROLE postgres SET enable_mergejoin = off;
    ALTER ROLE postgres SET enable_bitmapscan = off;
    ALTER ROLE postgres SET jit = off";

const OTHERS_END: &str = "
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
