//! Tests guarantees under concurrent sends: on one node, and on two nodes that share a PostgreSQL database.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{
    Clock as _, Code, EnterpriseTerms, KeyStatus, LeaseToken, Plan, Refusal, Timestamp,
};
use sealpost_service::{Credentials, Sent};
use tokio::runtime::Builder;

use super::run::{rows, settings};
use crate::{
    client::Client,
    support::{World, id, message},
};

/// A sender (Alice), a recipient (Bob), and one or two nodes.
struct Scene {
    world: World,
    other_node: Option<Client>,
    alice: Credentials,
    bob: Credentials,
}

/// The role of the key that is revoked during the test.
#[derive(Clone, Copy)]
enum Role {
    Recipient,
    Sender,
}

impl Scene {
    fn on_sqlite() -> Self {
        Self::new(World::with(settings()), None)
    }

    fn on_postgres() -> Self {
        Self::new(World::on_postgres(settings()), None)
    }

    fn on_two_nodes() -> Self {
        let world = World::on_postgres(settings());
        let other_node = world.another_node(settings());
        Self::new(world, Some(other_node))
    }

    /// Creates the sender, and the recipient with a webhook.
    fn new(world: World, other_node: Option<Client>) -> Self {
        let (alice, bob) = (world.newcomer(None), world.newcomer(Some("bob")));
        world.register(&bob);
        Self { world, other_node, alice, bob }
    }

    /// Sets the sender's limit of requests per minute. The other limits are too high to be reached.
    fn allow_a_minute(&self, per_minute: u32) {
        let plan = Plan::Enterprise(EnterpriseTerms {
            per_minute,
            per_day: 1_000_000,
            per_month: 1_000_000,
            per_second: 1_000_000,
            allow_overage: false,
        });
        self.world.operator().set_plan(&id(&self.alice), plan).unwrap();
    }

    /// Sends a message. If there are two nodes, odd numbers use the second node.
    fn send(&self, number: usize, to: &str, name: Option<&str>) -> Result<Sent, Refusal> {
        let node = self.other_node.as_ref().filter(|_| number % 2 == 1);
        let send = message(to, "hello", name);
        let sending = node.unwrap_or(&self.world.sealpost).send(&self.alice, Ok(send));
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(sending).result.map_err(|error| error.refusal().unwrap().clone())
    }

    /// Returns the sender's number of requests in this minute (including this request), and of messages in this month.
    fn used(&self) -> (u32, u32) {
        let usage = self.world.sealpost.status(&self.alice, &Ok(())).result.unwrap().usage;
        (usage.minute.used, usage.month.used)
    }

    /// Returns the number of stored deliveries.
    fn deliveries(&self) -> usize {
        let now = self.world.clock.now();
        self.world.database.release_every_lease(now).unwrap();
        self.world.claim(now, LeaseToken(2), Timestamp::from_millis(i64::MAX)).len()
    }
}

fn concurrent_equal_requests_are_stored_once(scene: &Scene) {
    scene.allow_a_minute(1_000);
    let answers = at_once(20, |number| scene.send(number, "bob", Some("order 7")).unwrap());
    assert_eq!(rows(&scene.world), (1, 1));
    assert_eq!(scene.deliveries(), 1);
    let first: Vec<_> = answers.iter().filter(|answer| !answer.replayed).collect();
    assert_eq!(first.len(), 1, "one of them is the first");
    assert!(
        answers.iter().all(|answer| answer.message.envelope_id == first[0].message.envelope_id)
    );
    assert_eq!(scene.used(), (21, 1), "each counts as a request, one of them as a message");
}

fn concurrent_requests_do_not_exceed_the_limit_of_a_minute(scene: &Scene, crowd: usize) {
    scene.allow_a_minute(20);
    let answers = at_once(crowd, |number| scene.send(number, "bob", None));
    let refusals: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert_eq!(crowd - refusals.len(), 20);
    assert!(refusals.iter().all(|refusal| refusal.code() == Code::RateLimitExceeded));
    assert_eq!((rows(&scene.world).0, scene.deliveries()), (20, 20));
    scene.world.clock.advance(Duration::from_mins(1));
    assert_eq!(scene.used(), (1, 20));
}

/// Every send that begins after the revocation is refused. No earlier send of a revoked sender is stored after it. A
/// running send to a revoked recipient may be stored, but its delivery is discarded.
fn a_revocation_ends_what_runs(scene: &Scene, role: Role) {
    scene.allow_a_minute(1_000_000);
    let (revoked, field) = match role {
        Role::Recipient => (id(&scene.bob), Some("to")),
        Role::Sender => (id(&scene.alice), None),
    };
    let refused = Err(Refusal::KeyInactive { status: KeyStatus::Revoked, field });
    let is_over = AtomicBool::new(false);
    let (stored, first_stored) = mpsc::channel();
    let send_on = |number: usize| {
        let (mut acknowledged, mut late) = (0, 0);
        while late < 5 {
            let is_late = is_over.load(Ordering::SeqCst);
            let answer = scene.send(number, "bob", None).map(|_| stored.send(()).unwrap());
            late += usize::from(is_late);
            acknowledged += usize::from(answer.is_ok());
            assert!(answer == refused || (answer.is_ok() && !is_late), "{answer:?}");
        }
        acknowledged
    };
    thread::scope(|scope| {
        let senders: Vec<_> =
            (0..SENDERS).map(|number| scope.spawn(move || send_on(number))).collect();
        first_stored.iter().take(40).for_each(drop);
        // Retries while the lock on the key times out.
        let until = Instant::now() + Duration::from_secs(20);
        while let Err(error) = scene.world.operator().revoke_key(&revoked) {
            assert!(Instant::now() < until, "{error}");
        }
        let stored_then = (rows(&scene.world).0, scene.deliveries());
        is_over.store(true, Ordering::SeqCst);
        let acknowledged: usize = senders.into_iter().map(|it| it.join().unwrap()).sum();
        let stored_finally = (rows(&scene.world).0, scene.deliveries());
        match role {
            Role::Recipient => {
                assert_eq!((stored_then.1, stored_finally), (0, (acknowledged, 0)));
                assert!(acknowledged - stored_then.0 <= SENDERS, "one running send of each thread");
            }
            Role::Sender => {
                assert_eq!(stored_then, (acknowledged, acknowledged));
                assert_eq!(stored_finally, stored_then);
            }
        }
    });
}

const SENDERS: usize = 8;

/// Runs `work` in `count` threads that start at the same time. Returns the results.
fn at_once<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(count);
    let run = |number| {
        start.wait();
        work(number)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || run(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn concurrent_equal_requests_are_stored_once_on_sqlite() {
    concurrent_equal_requests_are_stored_once(&Scene::on_sqlite());
}

#[test]
fn concurrent_equal_requests_are_stored_once_on_postgres() {
    concurrent_equal_requests_are_stored_once(&Scene::on_postgres());
}

#[test]
fn concurrent_equal_requests_are_stored_once_on_two_nodes() {
    concurrent_equal_requests_are_stored_once(&Scene::on_two_nodes());
}

#[test]
fn concurrent_requests_do_not_exceed_the_limit_of_a_minute_on_sqlite() {
    concurrent_requests_do_not_exceed_the_limit_of_a_minute(&Scene::on_sqlite(), 60);
}

#[test]
fn concurrent_requests_do_not_exceed_the_limit_of_a_minute_on_postgres() {
    concurrent_requests_do_not_exceed_the_limit_of_a_minute(&Scene::on_postgres(), 60);
}

#[test]
fn concurrent_requests_do_not_exceed_the_limit_of_a_minute_on_two_nodes() {
    concurrent_requests_do_not_exceed_the_limit_of_a_minute(&Scene::on_two_nodes(), 200);
}

#[test]
fn a_revoked_sender_stops_running_sends_on_two_nodes() {
    a_revocation_ends_what_runs(&Scene::on_two_nodes(), Role::Sender);
}

#[test]
fn a_revoked_recipient_stops_running_sends_on_two_nodes() {
    a_revocation_ends_what_runs(&Scene::on_two_nodes(), Role::Recipient);
}
