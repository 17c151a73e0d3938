//! Tests of the failover from a killed PostgreSQL primary to its standby, under load, without a restart of the nodes.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use sealpost_testkit::Instance;

use crate::support::{
    Client, Database, Identity, POLL_EVERY, Receiver, WebhookRequest, binary, eventually, run,
    text, wait_until,
};

/// A PostgreSQL primary and its standby. The nodes are configured with the addresses of both.
pub(crate) struct Cluster {
    primary: Instance,
    standby: Instance,
    pub(crate) database: Database,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let primary = Instance::start(&[]).unwrap();
        let standby = primary.standby(STANDBY).unwrap();
        let hosts = [&primary, &standby].map(|server| format!("127.0.0.1:{}", server.port()));
        let url = format!("postgres://postgres@{}/postgres", hosts.join(","));
        let cluster = Self { primary, standby, database: Database::at(url) };
        cluster.await_state("state = 'streaming'", "1");
        cluster
    }

    /// Makes commits wait for the standby. The standby does not have this setting, because the setting is changed after
    /// the primary was copied.
    fn make_synchronous(&self) {
        set(&self.primary, &format!("synchronous_standby_names = '{STANDBY}'"));
        self.await_state("sync_state = 'sync'", "1");
    }

    /// Waits until the standby has all changes of the primary.
    pub(crate) fn await_replay(&self) {
        let position = self.primary.execute("SELECT pg_current_wal_lsn()").unwrap();
        self.await_state(&format!("replay_lsn >= '{position}'"), "1");
    }

    /// Stops the replication, like a slow network.
    pub(crate) fn stop_replication(&self) {
        set(&self.standby, "primary_conninfo = ''");
        self.await_state("true", "0");
    }

    /// Waits until exactly `count` standbys match `state`, an SQL condition on `pg_stat_replication`.
    fn await_state(&self, state: &str, count: &str) {
        let sql = format!("SELECT count(*) FROM pg_stat_replication WHERE {state}");
        wait_until(state, || self.primary.execute(&sql).unwrap() == count);
    }

    pub(crate) fn fail_over(&self) {
        self.primary.kill().unwrap();
        self.standby.promote().unwrap();
    }

    /// Returns the report of `sealpost doctor`.
    fn doctor(&self) -> String {
        let mut doctor = binary(&["doctor", "--listen=127.0.0.1:0", "--ops-listen=off"]);
        doctor.args(["--database-url", self.database.url(), "--kek-file"]);
        doctor.arg(self.database.kek_file());
        run(doctor).stdout
    }
}

/// Changes a setting of a running server.
fn set(server: &Instance, setting: &str) {
    server.execute(&format!("ALTER SYSTEM SET {setting}")).unwrap();
    server.execute("SELECT pg_reload_conf()").unwrap();
}

#[test]
fn a_synchronous_standby_loses_nothing_acknowledged() {
    let cluster = Cluster::start();
    let database = &cluster.database;
    let nodes = [database.serve(), database.serve()];
    cluster.make_synchronous();
    assert!(!cluster.doctor().contains(RISK), "{}", cluster.doctor());
    let (client, receiver) = (nodes[0].client(), Receiver::start());
    let [alice, bob, mallory] = [(); 3].map(|()| client.new_identity());
    client.register(&bob, &receiver.url);
    database.set_enterprise(&alice.key, [100_000, 100_000, PER_MONTH, 10_000]);
    database.set_enterprise(&bob.key, [100_000, 100_000, 100_000, 10_000]);

    let load = Load::default();
    let paused = thread::scope(|scope| {
        for node in nodes.iter().chain(&nodes) {
            scope.spawn(|| load.send_to_limit(node.client(), &alice, &bob));
        }
        wait_until("the nodes are under load", || load.count() >= BEFORE);
        database.operate(&["key", "revoke", &mallory.key]);
        cluster.fail_over();
        let (promoted, before) = (Instant::now(), load.count());
        eventually("sends go on", Duration::from_secs(10), || {
            (load.count() > before).then_some(())
        });
        promoted.elapsed()
    });
    let unknown = load.unknown.load(Ordering::SeqCst);
    eprintln!("sends went on after {paused:?}; {unknown} had an unknown result");

    for node in &nodes {
        node.status(&mallory).refused(403, "KEY_INACTIVE");
        node.send(&bob, &mallory.key, "x").refused(403, "KEY_INACTIVE");
    }
    let stored = database.count(&format!("envelopes WHERE sender = '{}'", alice.key));
    assert_eq!(stored, i64::from(PER_MONTH), "the limit is exact");
    let used = &client.status(&alice).ok()["usage"]["month"]["used"];
    assert_eq!(*used, PER_MONTH);
    let acknowledged = load.acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() + unknown >= usize::try_from(PER_MONTH).unwrap());
    for (envelope, message) in &acknowledged {
        assert_eq!(client.open(&bob, envelope).ok()["message"], *message);
    }
    eventually("every envelope is delivered", Duration::from_mins(1), || {
        let delivered: Vec<_> = receiver.requests().iter().map(WebhookRequest::id).collect();
        acknowledged.iter().all(|(envelope, _)| delivered.contains(envelope)).then_some(())
    });
    for node in nodes {
        node.stop();
    }
}

#[test]
fn an_asynchronous_standby_can_lose_acknowledged_envelopes_and_revocations() {
    let cluster = Cluster::start();
    let database = &cluster.database;
    let node = database.serve();
    let client = node.client();
    let [alice, mallory] = [(); 2].map(|()| client.new_identity());
    let kept = client.send(&alice, &alice.key, "kept").ok();
    assert!(cluster.doctor().contains(RISK), "{}", cluster.doctor());
    cluster.await_replay();
    cluster.stop_replication();
    let lost = client.send(&alice, &alice.key, "lost").ok();
    database.operate(&["key", "revoke", &mallory.key]);
    client.status(&mallory).refused(403, "KEY_INACTIVE");
    cluster.fail_over();
    eventually("sends go on", Duration::from_secs(10), || {
        (client.send(&alice, &alice.key, "after").status == 200).then_some(())
    });
    assert_eq!(client.open(&alice, &text(&kept, "envelope_id")).ok()["message"], "kept");
    client.open(&alice, &text(&lost, "envelope_id")).refused(404, "ENVELOPE_NOT_FOUND");
    client.status(&mallory).ok();
}

/// The results of concurrent sends.
#[derive(Default)]
struct Load {
    turn: AtomicUsize,
    /// Id and message of each acknowledged envelope.
    acknowledged: Mutex<Vec<(String, String)>>,
    /// Number of sends without a known result.
    unknown: AtomicUsize,
}

impl Load {
    fn count(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// Sends until the month limit of the sender is reached.
    fn send_to_limit(&self, client: &Client, from: &Identity, to: &Identity) {
        loop {
            let message = format!("message {}", self.turn.fetch_add(1, Ordering::SeqCst));
            let response = client.send(from, &to.key, &message);
            match response.status {
                200 => {
                    let envelope = text(&response.ok(), "envelope_id");
                    self.acknowledged.lock().unwrap().push((envelope, message));
                }
                429 => break,
                500 => drop(self.unknown.fetch_add(1, Ordering::SeqCst)),
                _ => {
                    response.refused(503, "SERVICE_UNAVAILABLE");
                    thread::sleep(POLL_EVERY);
                }
            }
        }
    }
}

const STANDBY: &str = "standby1";
/// Month limit of the sender. The load ends at this number of envelopes.
const PER_MONTH: u32 = 1500;
/// Number of acknowledged envelopes before the primary dies.
const BEFORE: usize = 300;
/// Text of the warning about an asynchronous standby.
const RISK: &str = "synchronous_standby_names";
