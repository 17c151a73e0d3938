//! Tests concurrent look-ups of sessions and keys: each look-up gets its own result, and none waits forever.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Waker},
    thread::{self, Thread},
    time::Duration,
};

use sealpost_domain::{
    ApiKeyId, Code, IdempotencyKey, Refusal, RequestSource, Timestamp,
    ports::{SentQuery, StoreError},
};
use sealpost_service::{
    BatchIdempotency, BatchResult, Credentials, Error, KeyNamed, Limited, Scope, SendBatch, Sent,
    Settings,
};
use sealpost_storage::Access;
use sealpost_wallet::SessionToken;
use tokio::{runtime, sync::Notify, time::timeout};

use crate::{
    client::{Client, EVERY_SCOPE},
    support::{World, hooked, id, key_of, message, refusal},
};

#[tokio::test]
async fn look_ups_during_a_statement_share_the_next_statement() {
    let rig = Rig::with(Settings::default());
    let (alice, bob, nobody) = (rig.newcomer(), rig.newcomer(), nobody());
    let first = rig.ask_and_be_taken(&alice).await;
    let others = [&bob, &nobody, &alice, &bob].map(|who| rig.ask(who));
    rig.order([Order::Ask, Order::Ask]);
    assert_eq!(refused(first).await, Code::InvalidJson);
    let codes = all_refused(others).await;
    let expected = [Code::InvalidJson, Code::Unauthorized, Code::InvalidJson, Code::InvalidJson];
    assert_eq!(codes, expected);
    assert_eq!(rig.gate.statements(), 2);
}

#[tokio::test]
async fn look_ups_of_keys_share_a_statement_too() {
    let rig = Rig::with(Settings::default());
    let (alice, bob) = (rig.world.newcomer(None), rig.world.newcomer(None));
    // Sends without a key cache the sessions.
    rig.order([Order::Ask, Order::Ask]);
    for who in [&alice, &bob] {
        let keyless =
            Credentials { key: KeyNamed::InvalidBody(Refusal::InvalidJson), ..who.clone() };
        assert_eq!(refused(rig.send(&keyless)).await, Code::InvalidJson);
    }
    rig.gate.came.notified().await;
    let first = rig.ask_and_be_taken(&alice).await;
    let unknown = ApiKeyId::new(Timestamp::from_millis(1), [1; 10]).to_string();
    let unknown = Credentials { key: KeyNamed::Key(unknown), ..alice.clone() };
    let others = [&bob, &unknown, &alice].map(|who| rig.ask(who));
    // The refusal of the unknown key also reads the session again.
    rig.order([Order::Ask, Order::Ask, Order::Ask]);
    assert_eq!(refused(first).await, Code::InvalidJson);
    let codes = all_refused(others).await;
    assert_eq!(codes, [Code::InvalidJson, Code::KeyNotFound, Code::InvalidJson]);
    assert_eq!(rig.gate.statements(), 5);
}

/// Checks each function that authenticates callers. Every use case needs the result of one of these functions.
#[tokio::test]
async fn all_kinds_of_authentication_share_a_statement() {
    let rig = Rig::with(Settings::default());
    let (alice, nobody) = (rig.newcomer(), nobody());
    let token = nobody.token.as_deref();
    let first = rig.ask_and_be_taken(&alice).await;
    let named = Credentials { key: KeyNamed::Key("ak_x".to_owned()), ..nobody.clone() };
    let as_key = async { rig.node.authenticate(&named, EVERY_SCOPE).await.map(drop) };
    let in_session = async { rig.node.authenticate_session(token).await.map(drop) };
    let for_limit = async { rig.node.account_of(token).await.map(drop) };
    let as_owner =
        async { rig.node.0.owner(token.unwrap(), RequestSource::default()).await.map(drop) };
    let mut all = pin!(async { tokio::join!(as_key, in_session, for_limit, as_owner) });
    assert!(all.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    rig.order([Order::Ask, Order::Ask]);
    assert_eq!(refused(first).await, Code::InvalidJson);
    let (as_key, in_session, for_limit, as_owner) = timeout(SOON, all).await.unwrap();
    for result in [as_key, in_session, for_limit, as_owner] {
        assert_eq!(refusal(result).code(), Code::Unauthorized);
    }
    assert_eq!(rig.gate.statements(), 2);
}

#[tokio::test]
async fn a_cached_session_that_another_node_ended_is_refused() {
    let rig = Rig::with(Settings::default());
    let alice = rig.newcomer();
    rig.order([Order::Ask, Order::Ask]);
    assert_eq!(refused(rig.send(&alice)).await, Code::InvalidJson);
    rig.world.sealpost.logout(alice.token.as_deref(), Ok(Scope::Session)).unwrap();
    assert_eq!(refused(rig.send(&alice)).await, Code::Unauthorized);
}

#[tokio::test]
async fn a_session_that_a_transaction_found_ended_leaves_the_cache() {
    let rig = Rig::with(Settings::default());
    let alice = rig.world.newcomer(None);
    let send = async || {
        let message = message(&key_of(&alice), "hello", None);
        rig.node.send(&alice, Ok(message)).await.result
    };
    // Session and key.
    rig.order([Order::Ask, Order::Ask, Order::Ask]);
    send().await.unwrap();
    rig.world.sealpost.logout(alice.token.as_deref(), Ok(Scope::Session)).unwrap();
    for statements in [2, 3] {
        assert_eq!(refusal(send().await).code(), Code::Unauthorized);
        assert_eq!(rig.gate.statements(), statements);
    }
}

#[tokio::test]
async fn a_full_queue_refuses_look_ups_at_once() {
    let settings =
        Settings { lookups_waiting_max: 2, lookups_together_max: 1, ..Settings::default() };
    let rig = Rig::with(settings);
    let alice = rig.newcomer();
    let running = rig.ask_and_be_taken(&alice).await;
    let waiting = [rig.ask(&alice), rig.ask(&alice)];
    assert_eq!(refused(rig.send(&alice)).await, Code::ServiceUnavailable);
    rig.order([Order::Ask, Order::Ask, Order::Ask]);
    assert_eq!(refused(running).await, Code::InvalidJson);
    for waiting in waiting {
        assert_eq!(refused(waiting).await, Code::InvalidJson);
    }
    assert_eq!(rig.gate.statements(), 3, "no more share a statement than are allowed to");
}

#[tokio::test]
async fn an_unavailable_store_fails_only_the_look_ups_of_its_statement() {
    let rig = Rig::with(Settings::default());
    let alice = rig.newcomer();
    let away = || StoreError::Unavailable("away".into());
    let alone = rig.ask_and_be_taken(&alice).await;
    let together = [rig.ask(&alice), rig.ask(&alice)];
    rig.order([Order::Fail(away()), Order::Fail(away()), Order::Ask]);
    assert_eq!(refused(alone).await, Code::ServiceUnavailable);
    for asking in together {
        assert_eq!(refused(asking).await, Code::ServiceUnavailable);
    }
    assert_eq!(refused(rig.send(&alice)).await, Code::InvalidJson);
    assert_eq!(rig.gate.statements(), 3);
}

#[tokio::test]
async fn a_send_whose_recipient_cannot_be_looked_up_does_not_count() {
    let rig = Rig::with(Settings::default());
    let [alice, bob] = [(); 2].map(|()| rig.world.newcomer(None));
    let send = async || rig.node.send(&alice, Ok(message(&key_of(&bob), "hello", None))).await;
    // The look-ups of the session, of Alice's key and of Bob's key.
    let away = StoreError::Unavailable("away".into());
    rig.order([Order::Ask, Order::Ask, Order::Fail(away)]);
    assert_eq!(refusal(send().await.result).code(), Code::ServiceUnavailable);
    rig.order([Order::Ask]);
    let repeated = send().await;
    assert_eq!(repeated.limits.unwrap().report().minute.used, 1);
    repeated.result.unwrap();
}

#[tokio::test]
async fn a_batch_whose_recipient_cannot_be_looked_up_stores_nothing() {
    let rig = Rig::with(Settings::default());
    let [alice, bob, carol] = [(); 3].map(|()| rig.world.newcomer(None));
    // Caches the session and the keys of Alice and Bob.
    rig.order([Order::Ask, Order::Ask, Order::Ask]);
    let hello = message(&key_of(&bob), "hello", None);
    rig.node.send(&alice, Ok(hello)).await.result.unwrap();
    let caller = rig.node.authenticate(&alice, EVERY_SCOPE).await.unwrap();
    let send = async || {
        let messages =
            [&bob, &carol].map(|to| Ok::<_, Refusal>(message(&key_of(to), "pay 1", None)));
        let key = IdempotencyKey::parse("batch").unwrap();
        let idempotency = Some(BatchIdempotency { key, content: b"pay 1".to_vec() });
        let batch = SendBatch { messages: messages.into(), idempotency };
        rig.node.sending.send_batch(&caller, batch).await.result
    };
    let stored = || {
        let query = SentQuery {
            sender: id(&alice),
            recipient: None,
            thread: None,
            since: Timestamp::from_millis(0),
            until: None,
            below: None,
            limit: 9,
        };
        rig.world.database.read(|reader| reader.list_sent(&query)).unwrap().envelopes.len()
    };
    rig.order([Order::Fail(StoreError::Unavailable("away".into()))]);
    assert_eq!(refusal(send().await).code(), Code::ServiceUnavailable);
    assert_eq!(stored(), 1);
    rig.order([Order::Ask]);
    let done = send().await.unwrap();
    assert!(done.results.iter().all(|result| matches!(result, BatchResult::Sent(_))), "{done:?}");
    assert_eq!((done.replayed, stored()), (false, 3));
}

#[tokio::test]
async fn a_corrupt_session_does_not_fail_the_other_look_ups() {
    let rig = Rig::with(Settings::default());
    let (alice, bob) = (rig.newcomer(), rig.newcomer());
    let corrupt = || Order::Fail(StoreError::Corrupt("session"));
    let first = rig.ask_and_be_taken(&alice).await;
    let [at_fault, sound] = [&alice, &bob].map(|who| rig.ask(who));
    rig.order([Order::Ask, corrupt(), corrupt(), Order::Ask]);
    assert_eq!(refused(first).await, Code::InvalidJson);
    assert!(matches!(told(at_fault).await, Err(Error::NotRead)));
    assert_eq!(refused(sound).await, Code::InvalidJson);
}

#[tokio::test]
async fn a_panic_fails_the_queued_look_ups_and_the_next_one_succeeds() {
    let rig = Rig::with(Settings::default());
    let alice = rig.newcomer();
    let running = rig.ask_and_be_taken(&alice).await;
    let waiting = rig.ask(&alice);
    rig.order([Order::Panic]);
    for broken_off in [running, waiting] {
        let told = told(broken_off).await;
        assert!(matches!(told, Err(Error::Refused(Refusal::Unavailable))), "{told:?}");
    }
    rig.order([Order::Ask]);
    assert_eq!(refused(rig.send(&alice)).await, Code::InvalidJson);
}

/// A runtime that has ended runs no task, and drops the task of the look-up worker.
#[test]
fn an_ended_runtime_fails_its_look_up_and_the_next_one_succeeds() {
    let rig = Rig::with(Settings::default());
    let alice = rig.newcomer();
    let build = || runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (ended, going_on) = (build(), build());
    let entered = ended.handle().clone();
    ended.shutdown_background();
    let entered = entered.enter();
    let told = rig.send(&alice).as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let unavailable = Refusal::Unavailable;
    assert!(
        matches!(told, Poll::Ready(Limited { result: Err(Error::Refused(refusal)), .. }) if refusal == unavailable)
    );
    drop(entered);
    rig.order([Order::Ask]);
    assert_eq!(going_on.block_on(refused(rig.send(&alice))), Code::InvalidJson);
}

#[tokio::test]
async fn a_stop_does_not_wait_for_look_ups_and_they_complete() {
    let rig = Rig::with(Settings::default());
    let alice = rig.newcomer();
    let running = rig.ask_and_be_taken(&alice).await;
    let waiting = rig.ask(&alice);
    rig.node.stop();
    rig.order([Order::Ask, Order::Ask]);
    for asking in [running, waiting] {
        assert_eq!(refused(asking).await, Code::InvalidJson);
    }
}

/// A running request with a session, no key and malformed JSON. Such a request is refused without a transaction.
type Asking<'a> = Pin<Box<dyn Future<Output = Limited<Sent>> + 'a>>;

async fn refused(asking: Asking<'_>) -> Code {
    refusal(told(asking).await).code()
}

async fn all_refused<const N: usize>(all: [Asking<'_>; N]) -> Vec<Code> {
    let mut codes = Vec::new();
    for asking in all {
        codes.push(refused(asking).await);
    }
    codes
}

/// Returns the result of a request. Panics if the request takes too long.
async fn told(asking: Asking<'_>) -> Result<Sent, Error> {
    timeout(SOON, asking).await.expect("an answer").result
}

fn nobody() -> Credentials {
    let token = SessionToken::generate().unwrap().expose().to_owned();
    Credentials { token: Some(token), key: KeyNamed::InvalidBody(Refusal::InvalidJson) }
}

/// A node with database look-ups that wait until the test lets them run or fail.
struct Rig {
    node: Client,
    gate: Arc<Gate>,
    orders: mpsc::Sender<Order>,
    world: World,
}

impl Rig {
    fn with(settings: Settings) -> Self {
        let world = World::new();
        let (orders, to_do) = mpsc::channel();
        let gate = Arc::new(Gate {
            orders: Mutex::new(to_do),
            count: AtomicUsize::new(0),
            came: Notify::new(),
        });
        let passed = Arc::clone(&gate);
        let database = hooked(&world, move |access| match access {
            // The node's own threads read at any time. Requests read on the blocking threads of the runtime.
            Access::Read if is_of_runtime(&thread::current()) => passed.pass(),
            Access::Read | Access::Write(_) => Ok(()),
        });
        let node = world.node_on(database, settings);
        Self { node, gate, orders, world }
    }

    fn newcomer(&self) -> Credentials {
        Credentials {
            key: KeyNamed::InvalidBody(Refusal::InvalidJson),
            ..self.world.newcomer(None)
        }
    }

    fn order<const N: usize>(&self, orders: [Order; N]) {
        for order in orders {
            self.orders.send(order).unwrap();
        }
    }

    fn send<'a>(&'a self, who: &'a Credentials) -> Asking<'a> {
        Box::pin(self.node.send(who, Err(Refusal::InvalidJson)))
    }

    /// Sends a request. On return, the session look-up of the request is in the queue.
    fn ask<'a>(&'a self, who: &'a Credentials) -> Asking<'a> {
        let mut asking = self.send(who);
        let answer = asking.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(answer.is_pending());
        asking
    }

    /// Sends a request. On return, a worker has taken the session look-up of the request from the queue.
    async fn ask_and_be_taken<'a>(&'a self, who: &'a Credentials) -> Asking<'a> {
        let asking = self.ask(who);
        self.gate.came.notified().await;
        asking
    }
}

fn is_of_runtime(thread: &Thread) -> bool {
    thread.name().is_some_and(|name| name.starts_with("tokio"))
}

const SOON: Duration = Duration::from_secs(20);

enum Order {
    Ask,
    Fail(StoreError),
    Panic,
}

/// Lets each look-up wait until the test sends an [`Order`] for it.
struct Gate {
    orders: Mutex<mpsc::Receiver<Order>>,
    count: AtomicUsize,
    came: Notify,
}

impl Gate {
    /// Returns the number of look-ups that have begun so far.
    fn statements(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Waits for the order of the next look-up, and obeys it.
    fn pass(&self) -> Result<(), StoreError> {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.came.notify_one();
        let order = self.orders.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match order.expect("a test that is not over") {
            Order::Ask => Ok(()),
            Order::Fail(error) => Err(error),
            Order::Panic => panic!("as ordered"),
        }
    }
}
